//#include lib/fold.wgsl
// The end of pass 1: decide whether the expansion fits, and write the arguments of pass 2's indirect dispatch. They
// stand in a buffer of their own, because a dispatch may not bind its arguments as read-write storage.
@group(0) @binding(6) var<storage, read_write> state: State;
@group(0) @binding(7) var<storage, read_write> indirect: array<u32, 3>;

// Counting goes on after the output is full, so `required` is exact whatever the capacity. Returns the items to
// expand: P2, or 0 when something failed.
fn settle(total: u32, failed: u32) -> u32 {
    var failure = atomicLoad(&state.failure) | failed;
    if (failure == 0u && total > params.capacity) {
        failure = FAILED_CAPACITY;
    }
    let good = select(total, 0u, failure != 0u);
    atomicStore(&state.required, total);
    atomicStore(&state.failure, failure);
    atomicStore(&state.total, good);
    return good;
}

fn launch(threads: u32) {
    let groups = fold_threads(threads, WG);
    indirect[0] = groups.x;
    indirect[1] = groups.y;
    indirect[2] = groups.z;
}
