//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/fold.wgsl
//#include lib/settled.wgsl
//#include expansion/dispatch_each/launch.wgsl
// A dispatch for each src: write the arguments of every one that is recorded, none for those without items and for
// those beyond the last src.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
//#include <base>
@group(0) @binding(3) var<storage, read> state: Settled;
@group(0) @binding(4) var<storage, read_write> launches: array<Launch>;

@compute @workgroup_size(WG)
fn prepare(inv: Invocation) {
    let src = thread_index(inv);
    if (src >= LAUNCHES) {
        return;
    }
    var n = 0u;
    var first = 0u;
    if (state.total != 0u && src < params.src_count) {
        n = counts[src];                                                    //: load
        first = base_of(src);
    }
    let groups = fold_threads(n, WG);
    launches[src] = Launch(groups.x, groups.y, groups.z, src, n, first);    //: write
}
