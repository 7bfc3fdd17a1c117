//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/settled.wgsl
// Head scan: no src begins anywhere yet.
@group(0) @binding(1) var<storage, read_write> heads: array<u32>;
@group(0) @binding(2) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn heads_clear(inv: Invocation) {
    let item = thread_index(inv);
    if (item < state.total) {
        heads[item] = 0u;                                                   //: clear
    }
}
