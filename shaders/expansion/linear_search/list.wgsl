//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
// Linear search, pass 1: every src with items appends one entry (src, N) to a list.
// The list is walked from its beginning by every thread of pass 2, so its length is capped: MAX_LIST entries.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> entries: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> list_length: atomic<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

@compute @workgroup_size(WG)
fn list(inv: Invocation) {
    let src = thread_index(inv);
    if (src >= params.src_count) {
        return;
    }
    let n = counts[src];                                                    //: load
    if (n == 0u) {
        return;
    }
    let before = atomicAdd(&state.total, n);                                //: sum
    if (before + n < before) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    let place = atomicAdd(&list_length, 1u);                                //: reserve
    if (place >= MAX_LIST) {
        atomicOr(&state.failure, FAILED_LOOP);
        return;
    }
    entries[place] = vec2<u32>(src, n);                                     //: write
}
