//#include <emit>
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/settled.wgsl
// Prefix sum and binary search, pass 2: thread t belongs to the first src whose range ends after t (upper bound).
// Neighbours take the same turns for most of the way, so the loads of a subgroup fall together.
@group(0) @binding(2) var<storage, read> ends: array<u32>;
@group(0) @binding(3) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn search(inv: Invocation) {
    begin(inv, NO_THREAD);
    let thread = thread_index(inv);
    if (thread >= state.total) {
        return;
    }
    var low = 0u;
    var high = params.src_count;
    while (low < high) {
        let middle = low + (high - low) / 2u;                               //: probe
        if (ends[middle] <= thread) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    var start = 0u;
    if (low > 0u) {
        start = ends[low - 1u];                                             //: start
    }
    emit(inv, low, thread - start, thread, low);                            //: work
}
