//#include <emit>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
// 64-bit counter, pass 2: thread t belongs to the first entry that ends after t.
struct Entry {
    src: u32,
    count: u32,
    end: u32,
}
@group(0) @binding(2) var<storage, read> entries: array<Entry>;
@group(0) @binding(3) var<storage, read> packed: array<u32, 2>;
@group(0) @binding(4) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn search(inv: Invocation) {
    begin(inv, NO_THREAD);
    let thread = thread_index(inv);
    if (thread >= state.total) {
        return;
    }
    var low = 0u;
    var high = packed[1];
    while (low < high) {
        let middle = low + (high - low) / 2u;                               //: probe
        if (entries[middle].end <= thread) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    let entry = entries[low];                                               //: entry
    emit(inv, entry.src, thread - (entry.end - entry.count), thread, low);  //: work
}
