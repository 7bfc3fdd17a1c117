//#include lib/invocation.wgsl
//#include lib/threads.wgsl
// The least that any expansion can do: write the bytes of its output. A 16-byte store a thread into each of the two
// columns, which is as wide as a store can be.
struct Fill {
    vectors: u32,    // 16-byte vectors in a column
    value: u32,
}
@group(0) @binding(0) var<uniform> params: Fill;
@group(0) @binding(1) var<storage, read_write> out_src: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> out_local: array<vec4<u32>>;

@compute @workgroup_size(WG)
fn fill(inv: Invocation) {
    let thread = thread_index(inv);
    if (thread >= params.vectors) {
        return;
    }
    out_src[thread] = vec4<u32>(params.value);
    out_local[thread] = vec4<u32>(params.value);
}
