//#include <emit>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
// Linear search, pass 2: take N after N from the thread's index until what is left lies inside an entry.
// All threads of a subgroup walk the same entries in step, so the loads are coherent; there are just too many.
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> list_length: u32;
@group(0) @binding(4) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn walk(inv: Invocation) {
    begin(inv, NO_THREAD);
    let thread = thread_index(inv);
    if (thread >= state.total) {
        return;
    }
    var left = thread;
    var place = 0u;
    while (place < list_length && left >= entries[place].y) {
        left -= entries[place].y;                                           //: subtract
        place += 1u;
    }
    emit(inv, entries[place].x, left, thread, place);                       //: work
}
