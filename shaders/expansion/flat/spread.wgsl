//#include <emit>
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/settled.wgsl
// Flat expansion, pass 2: MAX_N threads for every src, whether it has work for them or not.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
//#include <base>
@group(0) @binding(3) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn spread(inv: Invocation) {
    begin(inv, NO_THREAD);
    let thread = thread_index(inv);
    if (thread >= params.src_count * state.max_n) {
        return;
    }
    let src = thread / state.max_n;                                         //: divide
    let local = thread % state.max_n;
    if (local >= counts[src]) {                                             //: early-out
        return;
    }
    emit(inv, src, local, base_of(src) + local, src);                       //: work
}
