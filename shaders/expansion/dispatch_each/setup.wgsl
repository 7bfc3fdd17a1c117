//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// A dispatch for each src, set-up: whether there is room for all. Nothing is launched otherwise.
@compute @workgroup_size(1)
fn setup() {
    launch(settle(atomicLoad(&state.total), 0u));                           //: settle
}
