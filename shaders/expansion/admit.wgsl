//#include lib/state.wgsl
// The start of a prepared expansion whose number of src may be known to the GPU alone: more than it was prepared for
// are refused, not cut off.
@group(0) @binding(0) var<storage, read_write> params: array<u32, 8>;   // the first word is src_count
@group(0) @binding(1) var<storage, read_write> state: State;

@compute @workgroup_size(1)
fn admit() {
    if (params[0] > MAX_SRC) {
        atomicOr(&state.failure, FAILED_SRC);                               //: refuse
        params[0] = 0u;
    }
}
