//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include expansion/atomic64/entries.wgsl
// 64-bit counter by addition, pass 1: one atomic add of (1, N) does what the compare-exchange loop does.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

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
    let before = atomicAdd(&packed, packed_of(1u, n));                      //: add
    write_entry(src, n, u32(before >> 32u), u32(before & 0xFFFFFFFFlu));
}
