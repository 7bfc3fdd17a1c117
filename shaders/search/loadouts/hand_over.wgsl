//#include lib/settled.wgsl
// What the selection has to know and the host wants to: how many scores there are, what was required, what was kept.
@group(0) @binding(0) var<storage, read> state: Settled;
@group(0) @binding(1) var<storage, read> lists: array<u32>;
@group(0) @binding(2) var<storage, read_write> params: array<u32, 8>;
@group(0) @binding(3) var<storage, read_write> winners: array<u32>;

@compute @workgroup_size(1)
fn hand_over() {
    params[0] = state.total;
    params[1] = 0xFFFFFFFFu;   // no bound
    params[2] = 0xFFFFFFFFu;
    params[3] = K;
    params[4] = LIST_ROOM;
    params[5] = KEPT_ROOM;
    params[6] = MAX_N;
    params[7] = 0u;
    winners[0] = state.total;
    winners[1] = state.failure;
    winners[2] = state.required;
    winners[3] = 0u;
    for (var slot = 0u; slot < SLOTS; slot++) {
        winners[4u + slot] = lists[slot];
    }
}
