//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// 64-bit counter, set-up: unpack it. The low half is the high half's neighbour in memory (little endian).
@group(0) @binding(3) var<storage, read> packed: array<u32, 2>;

@compute @workgroup_size(1)
fn setup() {
    launch(settle(packed[0], 0u));                                          //: launch
}
