//#include lib/invocation.wgsl
//#include search/loadouts/pool.wgsl
// Keeps the items whose worth reaches the least of their slot: a workgroup for each slot, a thread for every 256th item.
// A kept item's place is the number of kept ones before it, so the order does not depend on who is first; in a slot that
// matches another one's set, items of a set lie together.
@group(0) @binding(0) var<storage, read> pool: array<u32>;
@group(0) @binding(1) var<storage, read_write> lists: array<u32>;

fn kept(slot: u32, item: u32) -> bool {
    let least = bitcast<f32>(pool[TASK + 4u * slot + 3u]);
    return bitcast<f32>(pool[WORTH_AT + first_of(slot) + item]) >= least;   //: keep
}

@compute @workgroup_size(WG)
fn cull(inv: Invocation) {
    let slot = inv.group.x;
    let size = pool[TASK + 4u * slot + 1u];
    let by_set = match_of(slot) != NONE;
    for (var item = inv.local; item < size; item += WG) {
        if (kept(slot, item)) {
            var place = 0u;
            for (var other = 0u; other < size; other++) {
                var earlier = other < item;
                if (by_set) {
                    let theirs = set_of(slot, other);
                    let mine = set_of(slot, item);
                    earlier = theirs < mine || (theirs == mine && other < item);
                }
                place += u32(earlier && kept(slot, other));
            }
            lists[KEPT_AT + first_of(slot) + place] = item;                 //: store
        }
    }
    for (var number = inv.local; number < SETS; number += WG) {
        var first = 0u;
        var count = 0u;
        for (var other = 0u; other < size; other++) {
            let theirs = set_of(slot, other);
            let is_kept = kept(slot, other);
            first += u32(theirs < number && is_kept);
            count += u32(theirs == number && is_kept);
        }
        lists[SPANS_AT + 2u * (slot * SETS + number)] = first;
        lists[SPANS_AT + 2u * (slot * SETS + number) + 1u] = count;
    }
    if (inv.local == 0u) {
        var count = 0u;
        for (var other = 0u; other < size; other++) {
            count += u32(kept(slot, other));
        }
        lists[slot] = count;
    }
}
