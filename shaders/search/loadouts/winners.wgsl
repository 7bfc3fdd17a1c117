//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include search/loadouts/pick.wgsl
// The best of a device: their scores and their items, best first, behind HEAD words that `hand_over` wrote.
@group(0) @binding(0) var<storage, read> pool: array<u32>;
@group(0) @binding(1) var<storage, read> lists: array<u32>;
@group(0) @binding(2) var<storage, read> out_src: array<u32>;
@group(0) @binding(3) var<storage, read> out_local: array<u32>;
@group(0) @binding(4) var<storage, read> out_indices: array<u32>;
@group(0) @binding(5) var<storage, read> out_values: array<u32>;
@group(0) @binding(6) var<storage, read_write> winners: array<u32>;

@compute @workgroup_size(WG)
fn note_winners(inv: Invocation) {
    let rank = thread_index(inv);
    if (rank >= min(K, winners[0])) {
        return;
    }
    let dst = out_indices[rank];
    var pick: array<u32, SLOTS>;
    lead(pool[2u * DEVICE] + out_src[dst], &pick);
    follow(out_local[dst], &pick);
    let at = HEAD + rank * (1u + SLOTS);
    winners[at] = out_values[rank];
    for (var slot = 0u; slot < SLOTS; slot++) {
        winners[at + 1u + slot] = pick[slot];
    }
}
