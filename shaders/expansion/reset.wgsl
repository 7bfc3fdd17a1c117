// Zeroes the words that a pass counts in. Every run starts with it: a counter that is left over makes the next run
// wrong, and one that is reset elsewhere makes it look faster than it is.
@group(0) @binding(0) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(WG)
fn reset(@builtin(local_invocation_index) local: u32) {
    for (var i = local; i < arrayLength(&words); i += WG) {
        words[i] = 0u;                                                      //: reset
    }
}
