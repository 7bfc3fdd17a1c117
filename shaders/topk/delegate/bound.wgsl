//#include topk/item.wgsl
//#include topk/quads.wgsl
//#include topk/work.wgsl
//#include topk/delegate/pieces.wgsl
//#include topk/kth.wgsl
// Delegates, second pass: at least k pieces have a best key up to the k-th best of all pieces, so at least k items do, and
// everything wanted is among the items up to it. Only pieces whose best reaches the bound are listed for another look.
@group(0) @binding(4) var<storage, read> best: array<u32>;
@group(0) @binding(5) var<storage, read_write> picked: array<u32>;

fn key_at(place: u32) -> u32 {
    return best[place];
}

@compute @workgroup_size(WG)
fn bound(@builtin(local_invocation_index) local: u32) {
    let quads = quads_of(item_count());
    let pieces = piece_count(quads, piece_length(quads));
    // Fewer pieces than k say nothing: everything may be among the best. The bound is part of what passes.
    var limit = 0xFFFFFFFFu;
    if (pieces >= params.k) {
        limit = kth_key(pieces, params.k, local);                           //: bound
    }
    // What counts is not worse than the bound from outside, so pieces without anything that counts are not picked.
    limit = min(limit, params.bound);
    if (local == 0u) {
        atomicStore(&work[BOUND], limit);
    }
    for (var i = local; i < pieces; i += WG) {
        if (best[i] <= limit) {
            picked[atomicAdd(&work[COUNT_PICKED], 1u)] = i;                 //: pick
        }
    }
}
