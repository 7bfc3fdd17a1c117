// The launch of one src: the arguments of its dispatch, and what that dispatch has to know. One every 256 bytes, the
// step in which a binding's offset may move on every device: so a dispatch sees its own as a uniform.
struct Launch {
    x: u32,
    y: u32,
    z: u32,
    src: u32,
    n: u32,
    @size(236) first: u32,   // place of its first item in the output
}
