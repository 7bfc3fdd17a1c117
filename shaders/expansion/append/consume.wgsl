//#include <emit>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
// Append, pass 2: thread t works on info t.
@group(0) @binding(2) var<storage, read> infos: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn consume(inv: Invocation) {
    begin(inv, NO_THREAD);
    let thread = thread_index(inv);
    if (thread >= state.total) {
        return;
    }
    let info = infos[thread];                                               //: info
    emit(inv, info.x, info.y, thread, thread);                              //: work
}
