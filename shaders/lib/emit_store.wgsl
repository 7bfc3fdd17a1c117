//#include lib/invocation.wgsl
// The end of pass 2 that materialises the mapping.
@group(1) @binding(0) var<storage, read_write> out_src: array<u32>;
@group(1) @binding(1) var<storage, read_write> out_local: array<u32>;

fn in_dispatch(number: u32) {}

fn begin(inv: Invocation, bucket: u32) {}

fn emit(inv: Invocation, src: u32, local: u32, dst: u32, entry: u32) {
    out_src[dst] = src;
    out_local[dst] = local;
}
