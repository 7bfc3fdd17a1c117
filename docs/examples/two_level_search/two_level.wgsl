//#include <emit>
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/settled.wgsl
//#include expansion/scan/block.wgsl
// Two-level search, pass 2: thread t looks for its block first, in a table that is BLOCK times shorter than `ends` and
// stays in the cache, and then for its src inside the block.
@group(0) @binding(1) var<storage, read> sums: array<u32>;
@group(0) @binding(2) var<storage, read> ends: array<u32>;
@group(0) @binding(3) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn two_level(inv: Invocation) {
    begin(inv, NO_THREAD);
    let thread = thread_index(inv);
    if (thread >= state.total) {
        return;
    }
    // The last block that begins at the thread or before it: its range is not empty, so it holds the thread.
    var low = 0u;
    var high = block_count();
    while (low < high) {
        let middle = low + (high - low) / 2u;                               //: coarse
        if (sums[middle] <= thread) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    low = (low - 1u) * BLOCK;
    high = min(low + BLOCK, params.src_count);
    while (low < high) {
        let middle = low + (high - low) / 2u;                               //: fine
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
