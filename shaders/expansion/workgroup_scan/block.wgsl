// A block is WG src. One workgroup takes at most PART items of it: a thread then has few enough rounds for drivers
// that end long loops, and a giant is spread over the device.
const ROUNDS: u32 = 64u;
const PART: u32 = WG * ROUNDS;

fn block_count() -> u32 {
    return params.src_count / WG + u32(params.src_count % WG != 0u);
}
