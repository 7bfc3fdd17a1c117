//#include lib/state.wgsl
// The start of a prepared expansion whose number of src may be known to the GPU alone: more than it was prepared for
// are refused, not cut off.
struct Given {
    src_count: u32,
    capacity: u32,
    align: u32,
    spare: u32,
}
@group(0) @binding(0) var<storage, read_write> params: Given;
@group(0) @binding(1) var<storage, read_write> state: State;

@compute @workgroup_size(1)
fn admit() {
    if (params.src_count > MAX_SRC) {
        atomicOr(&state.failure, FAILED_SRC);                               //: refuse
        params.src_count = 0u;
    }
}
