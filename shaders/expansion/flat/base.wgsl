// The place of a src's first item in the output.
@group(0) @binding(2) var<storage, read> base: array<u32>;

fn base_of(src: u32) -> u32 {
    return base[src];
}
