//#include lib/invocation.wgsl
//#include topk/pairs.wgsl
// What every pass of a selection is told.
struct Params {
    n: u32,
    // Only items before the pair (bound, bound_end) count: what a stream has found so far. "None yet" is NO_ITEM, which
    // every item is before; never 0, which is a score like any other.
    bound: u32,
    bound_end: u32,
    // Sizes are told here and not written into the shaders, so that one compilation serves them all.
    k: u32,
    list_room: u32,   // items that `list` holds for the last step
    kept_room: u32,   // items that `kept` holds
    most: u32,        // scores that the buffers are sized for; n may come from the GPU and be anything
}
@group(0) @binding(0) var<uniform> params: Params;

fn admits(item: vec2<u32>) -> bool {
    return before(item, vec2<u32>(params.bound, params.bound_end));
}
