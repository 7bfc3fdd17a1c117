//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include expansion/atomic64/entries.wgsl
// 64-bit counter by compare-exchange, pass 1: read the word, make the new one, and write it unless another thread was
// faster; then again. Every round one thread wins, so P1 threads on one address take P1 rounds in the worst case:
// the number of src is capped, and so are the rounds.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;
const ROUNDS: u32 = 65000u;

@compute @workgroup_size(WG)
fn count(inv: Invocation) {
    let src = thread_index(inv);
    if (src >= params.src_count) {
        return;
    }
    let n = counts[src];                                                    //: load
    if (n == 0u) {
        return;
    }
    var seen = atomicLoad(&packed);
    for (var round = 0u; round < ROUNDS; round++) {
        let tried = atomicCompareExchangeWeak(&packed, seen, seen + packed_of(1u, n));   //: exchange
        if (tried.exchanged) {
            write_entry(src, n, u32(seen >> 32u), u32(seen & 0xFFFFFFFFlu));
            return;
        }
        seen = tried.old_value;
    }
    atomicOr(&state.failure, FAILED_LOOP);
}
