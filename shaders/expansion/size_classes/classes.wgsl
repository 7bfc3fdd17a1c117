// The classes of src, by N. Groups of GROUP threads are cut by index, not by the device's subgroups: the same code runs
// on every device, and where subgroups are as wide a group is one.
const GROUP: u32 = 32u;
const MEDIUM_N: u32 = GROUP;          // from here a group has work for all its threads in the first round
const LARGE_N: u32 = 32u * GROUP;     // from here a group would take more rounds than it has threads

// Large src are cut in pieces of 2^piece_bits items, one for a workgroup: enough of them to spread a giant over the
// device. The largest N get longer pieces, because one thread writes the pieces of a src and some drivers end long
// loops.
fn piece_bits(n: u32) -> u32 {
    return select(14u, 17u, n >= (1u << 28u));
}

fn pieces_of(n: u32) -> u32 {
    let bits = piece_bits(n);
    return (n >> bits) + u32((n & ((1u << bits) - 1u)) != 0u);
}

// What a src adds to the four counts: items, small src, medium src, pieces of large src.
fn tally_of(n: u32) -> vec4<u32> {
    if (n >= LARGE_N) {
        return vec4<u32>(n, 0u, 0u, pieces_of(n));
    }
    return vec4<u32>(n, u32(n != 0u && n < MEDIUM_N), u32(n >= MEDIUM_N), 0u);
}
