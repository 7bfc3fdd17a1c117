//#include lib/invocation.wgsl
//#include topk/pairs.wgsl
//#include topk/step.wgsl
// Bitonic top-k: of two sorted runs of 2^step.shift items the better half, as a bitonic row: the better one of each item
// of the first run and its mirror image in the second. A last run without a second one is taken as it is.
@group(0) @binding(2) var<storage, read> pairs_in: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> pairs: array<vec2<u32>>;

@compute @workgroup_size(WG)
fn halve(inv: Invocation) {
    let length = 1u << step.shift;
    for (var i = inv.group.x * WG + inv.local; i < arrayLength(&pairs); i += inv.groups.x * WG) {
        let first = 2u * (i - i % length) + i % length;
        let second = 2u * (i - i % length) + 2u * length - 1u - i % length;
        var better = NO_ITEM;
        if (first < arrayLength(&pairs_in)) {
            better = pairs_in[first];
        }
        if (second < arrayLength(&pairs_in) && before(pairs_in[second], better)) {
            better = pairs_in[second];                                      //: better
        }
        pairs[i] = better;
    }
}
