//#include lib/fold.wgsl
//#include lib/settled.wgsl
// The end of a prepared expansion: the arguments of a dispatch with one thread for each item, for whoever comes next.
@group(0) @binding(0) var<storage, read> state: Settled;
@group(0) @binding(1) var<storage, read_write> next: array<u32, 3>;

@compute @workgroup_size(1)
fn publish() {
    let groups = fold_threads(state.total, WG);
    next[0] = groups.x;                                                     //: launch
    next[1] = groups.y;
    next[2] = groups.z;
}
