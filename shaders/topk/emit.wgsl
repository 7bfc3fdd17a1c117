//#include topk/item.wgsl
//#include topk/work.wgsl
//#include topk/result.wgsl
// The last step after a sort: the first k of the pairs are the result, as far as they count.
@group(0) @binding(2) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> status: array<u32, 4>;

fn counts(place: u32, all: u32) -> bool {
    return place < all && admits(pairs[place]) && pairs[place].y < params.n;
}

@compute @workgroup_size(WG)
fn emit(inv: Invocation) {
    var all = min(params.k, item_count());
    if (FROM_LIST == 1u) {
        all = min(all, atomicLoad(&work[COUNT_LISTED]));
    }
    for (var place = inv.group.x * WG + inv.local; place < max(all, 1u); place += inv.groups.x * WG) {
        let here = counts(place, all);
        // What counts comes first, so the last one that does tells how many.
        if (here && !counts(place + 1u, all)) {
            status[0] = place + 1u;
        }
        if (place == 0u) {
            if (!here) {
                status[0] = 0u;
            }
            status[1] = all;
            status[2] = atomicLoad(&work[COUNT_FOUND]);
            status[3] = atomicLoad(&work[COUNT_KEPT]);
        }
        if (here) {
            put(place, pairs[place]);                                       //: put
        }
    }
}
