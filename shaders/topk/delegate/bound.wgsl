//#include topk/params.wgsl
//#include topk/work.wgsl
//#include topk/delegate/narrow.wgsl
// Delegates, second pass, by one workgroup: at least k pieces have a best item up to the k-th best of them, so at least k items
// lie up to it, and everything wanted does. Only pieces whose best reaches that bound are listed for another look.
@group(0) @binding(4) var<storage, read> best: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> picked: array<u32>;

var<workgroup> picks: atomic<u32>;

fn pair(at: u32) -> vec2<u32> {
    return best[at];
}

fn pick(item: vec2<u32>, limit: vec2<u32>, place: u32) {
    if (any(item != NO_ITEM) && !before(limit, item)) {
        picked[atomicAdd(&picks, 1u)] = place;                              //: pick
    }
}

@compute @workgroup_size(WG)
fn bound(@builtin(local_invocation_index) local: u32) {
    let pieces = arrayLength(&best);
    // Fewer pieces than k say nothing: everything may be among the best, and the limit is NO_ITEM.
    var limit = limit_of(local, pieces, max(32u, params.k / 8u));           //: bound
    // What counts lies before the bound from outside, so pieces without anything that counts are not picked.
    let outside = vec2<u32>(params.bound, params.bound_end);
    if (before(outside, limit)) {
        limit = outside;
    }
    if (local == 0u) {
        atomicStore(&work[BOUND], limit.x);
        atomicStore(&work[BOUND + 1u], limit.y);
        atomicStore(&picks, 0u);
    }
    workgroupBarrier();
    for (var i = local; i < pieces; i += AHEAD * WG) {
        let items = load_items(i, pieces);
        pick(items[0], limit, i);
        pick(items[1], limit, i + WG);
        pick(items[2], limit, i + 2u * WG);
        pick(items[3], limit, i + 3u * WG);
        pick(items[4], limit, i + 4u * WG);
        pick(items[5], limit, i + 5u * WG);
        pick(items[6], limit, i + 6u * WG);
        pick(items[7], limit, i + 7u * WG);
    }
    workgroupBarrier();
    if (local == 0u) {
        atomicStore(&work[COUNT_PICKED], atomicLoad(&picks));
    }
}
