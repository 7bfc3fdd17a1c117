//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// Look-back, set-up: one thread for each item.
@compute @workgroup_size(1)
fn setup() {
    launch(settle(atomicLoad(&state.total), 0u));                           //: launch
}
