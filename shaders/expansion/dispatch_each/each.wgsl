//#include <emit>
//#include lib/threads.wgsl
//#include expansion/dispatch_each/launch.wgsl
// A dispatch for each src, pass 2: nothing is searched, the dispatch is told its src.
@group(0) @binding(1) var<uniform> mine: Launch;

@compute @workgroup_size(WG)
fn each(inv: Invocation) {
    in_dispatch(mine.src);
    begin(inv, NO_THREAD);
    let local = thread_index(inv);
    if (local >= mine.n) {                                                  //: early-out
        return;
    }
    emit(inv, mine.src, local, mine.first + local, mine.src);               //: work
}
