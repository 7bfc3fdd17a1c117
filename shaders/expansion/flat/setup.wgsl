//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// Flat expansion, set-up: pass 2 gets P1 x MAX_N threads.
@compute @workgroup_size(1)
fn setup() {
    let widest = atomicLoad(&state.max_n);
    var failed = 0u;
    if (widest != 0u && params.src_count > 0xFFFFFFFFu / widest) {
        failed = FAILED_THREADS;
    }
    let total = settle(atomicLoad(&state.total), failed);
    launch(select(params.src_count * widest, 0u, total == 0u));             //: launch
}
