//#include <emit>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
// Head scan, pass 2: item t reads its src and subtracts where the src begins.
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read> heads: array<u32>;
@group(0) @binding(3) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn subtract(inv: Invocation) {
    begin(inv, NO_THREAD);
    let item = thread_index(inv);
    if (item >= state.total) {
        return;
    }
    let src = heads[item];                                                  //: src
    var start = 0u;
    if (src > 0u) {
        start = ends[src - 1u];                                             //: start
    }
    emit(inv, src, item - start, item, item);                               //: work
}
