//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
// A dispatch for each src, pass 1.
// (1) Take N. (2) Reserve N places of the output; the order is the atomics'.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> base: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

@compute @workgroup_size(WG)
fn count(inv: Invocation) {
    let src = thread_index(inv);
    if (src >= params.src_count) {
        return;
    }
    let n = counts[src];                                                    //: load
    let first = atomicAdd(&state.total, n);                                 //: reserve
    if (first + n < first) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    base[src] = first;
}
