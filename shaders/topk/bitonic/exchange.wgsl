//#include lib/invocation.wgsl
//#include topk/pairs.wgsl
//#include topk/step.wgsl
// Bitonic top-k, one step on items too far apart for workgroup memory. step.word 1: parts of 2^step.shift items are
// compared with their mirror images, which makes two sorted halves bitonic; 0: items 2^step.shift apart.
@group(0) @binding(5) var<storage, read_write> pairs: array<vec2<u32>>;

@compute @workgroup_size(WG)
fn exchange(inv: Invocation) {
    let half = arrayLength(&pairs) / 2u;
    for (var i = inv.group.x * WG + inv.local; i < half; i += inv.groups.x * WG) {
        var low = 0u;
        var high = 0u;
        if (step.word == 1u) {
            let inside = i & ((1u << (step.shift - 1u)) - 1u);
            low = 2u * i - inside;
            high = low - inside + ((1u << step.shift) - 1u - inside);
        } else {
            low = 2u * i - (i & ((1u << step.shift) - 1u));
            high = low + (1u << step.shift);
        }
        let a = pairs[low];
        let b = pairs[high];
        if (before(b, a)) {                                                 //: compare
            pairs[low] = b;
            pairs[high] = a;
        }
    }
}
