//#include topk/params.wgsl
//#include topk/work.wgsl
// The items to sort are those of a list.
@group(0) @binding(2) var<storage, read> pairs_in: array<vec2<u32>>;

fn sort_count() -> u32 {
    return select(min(atomicLoad(&work[COUNT_LISTED]), arrayLength(&pairs_in)), 0u, params.n == 0u);
}

fn take(place: u32) -> vec2<u32> {
    return pairs_in[place];
}
