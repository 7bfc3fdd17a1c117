//#include topk/item.wgsl
//#include topk/work.wgsl
//#include topk/kth.wgsl
// Threshold and append, first pass: the k-th best of the first scores bounds all of them. One workgroup.
const FEWEST: u32 = 4096u;
const MOST: u32 = 65536u;

var<workgroup> shared_items: u32;

fn key_at(place: u32) -> u32 {
    return item_at(place, shared_items).x;
}

@compute @workgroup_size(WG)
fn head(@builtin(local_invocation_index) local: u32) {
    let items = item_count();
    if (local == 0u) {
        shared_items = items;
    }
    workgroupBarrier();
    let first = min(items, clamp(items / 16u, FEWEST, MOST));
    // A score that does not count has the worst key, so the bound is never too tight. It passes itself.
    var limit = 0xFFFFFFFFu;
    if (first >= params.k) {
        limit = kth_key(first, params.k, local);                            //: bound
    }
    if (local == 0u) {
        atomicStore(&work[BOUND], limit);
    }
}
