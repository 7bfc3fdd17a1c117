//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/settled.wgsl
// Head scan: every src adds one where it ends and the next one begins. Several meet at one place where src are empty.
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read> state: Settled;
@group(0) @binding(3) var<storage, read_write> heads: array<atomic<u32>>;

@compute @workgroup_size(WG)
fn heads_mark(inv: Invocation) {
    let src = thread_index(inv);
    if (src >= params.src_count) {
        return;
    }
    let end = ends[src];                                                    //: load
    // Nothing begins after the last item; when something failed the total is 0.
    if (end < state.total) {
        atomicAdd(&heads[end], 1u);                                         //: mark
    }
}
