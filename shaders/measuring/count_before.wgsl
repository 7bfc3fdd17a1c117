//#include lib/invocation.wgsl
//#include lib/keys.wgsl
//#include topk/pairs.wgsl
// Checks a selection where the scores are: counts the items that are not after the last one selected. Items are pairs (key,
// index), no two equal; so k distinct ones, of which none is after the last, are the k best if exactly k items are not.
struct Count {
    n: u32,
    key: u32,     // the last item selected
    index: u32,
}
@group(0) @binding(0) var<uniform> params: Count;
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read_write> found: array<atomic<u32>, 12>;

@compute @workgroup_size(WG)
fn count_before(inv: Invocation) {
    let last = vec2<u32>(params.key, params.index);
    var mine = 0u;
    // A workgroup's threads read side by side.
    for (var i = inv.group.x * WG + inv.local; i < params.n; i += inv.groups.x * WG) {
        let item = vec2<u32>(key_of(bits_of(values[i / PER_WORD], i % PER_WORD)), i);
        mine += select(1u, 0u, before(last, item));
    }
    if (mine > 0u) {
        atomicAdd(&found[0], mine);
    }
}
