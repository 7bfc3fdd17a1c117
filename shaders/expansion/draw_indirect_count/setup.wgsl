//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// Draws, set-up: all of them, or none where the items do not fit.
@group(0) @binding(4) var<storage, read_write> drawn: u32;

@compute @workgroup_size(1)
fn setup() {
    let total = settle(atomicLoad(&state.total), 0u);
    drawn = select(drawn, 0u, total == 0u);                                 //: count
    launch(total);
}
