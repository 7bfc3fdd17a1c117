//#include lib/invocation.wgsl
// The end of pass 2 that materialises the mapping, four neighbours at a time: one 16-byte store for each array. The
// arrays are padded to whole fours; what stands behind the last item says nothing.
@group(1) @binding(0) var<storage, read_write> out_src: array<vec4<u32>>;
@group(1) @binding(1) var<storage, read_write> out_local: array<vec4<u32>>;

fn emit4(inv: Invocation, count: u32, src: vec4<u32>, local: vec4<u32>, dst: u32, entry: vec4<u32>) {
    if (count > 0u) {
        out_src[dst / 4u] = src;
        out_local[dst / 4u] = local;
    }
}
