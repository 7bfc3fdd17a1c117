//#include topk/params.wgsl
// The items to sort are pairs already: as many as there are scores.
@group(0) @binding(2) var<storage, read> pairs_in: array<vec2<u32>>;

fn sort_count() -> u32 {
    return min(min(params.n, params.most), arrayLength(&pairs_in));
}

fn take(place: u32) -> vec2<u32> {
    return pairs_in[place];
}
