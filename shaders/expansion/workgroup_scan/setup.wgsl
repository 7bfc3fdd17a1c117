//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
//#include expansion/workgroup_scan/block.wgsl
// Block-mapped expansion, set-up: a workgroup for each block of src, and the helpers of large blocks.
@group(0) @binding(2) var<storage, read> helpers_used: u32;

@compute @workgroup_size(1)
fn setup() {
    let total = settle(atomicLoad(&state.total), 0u);
    let groups = fold(select(block_count() + helpers_used, 0u, total == 0u));   //: launch
    indirect[0] = groups.x;
    indirect[1] = groups.y;
    indirect[2] = groups.z;
}
