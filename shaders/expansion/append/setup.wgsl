//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// Append, set-up: one thread for each info.
@compute @workgroup_size(1)
fn setup() {
    launch(settle(atomicLoad(&state.total), 0u));                           //: launch
}
