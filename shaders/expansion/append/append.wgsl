//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include expansion/append/infos.wgsl
// Append, pass 1: every src writes one info for each of its items.
// (1) Take N. (2) Reserve N infos with one atomic. (3) Write them one after the other: the subgroup waits for its
// largest N, which is where this strategy loses.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

@compute @workgroup_size(WG)
fn append(inv: Invocation) {
    let src = thread_index(inv);
    if (src >= params.src_count) {
        return;
    }
    let n = counts[src];                                                    //: load
    if (n == 0u) {
        return;
    }
    let first = atomicAdd(&state.total, n);                                 //: reserve
    if (first + n < first) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    write_infos(src, n, first);
}
