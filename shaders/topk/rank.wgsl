//#include topk/item.wgsl
//#include topk/work.wgsl
//#include topk/result.wgsl
// The last step for short lists: the place of an item is the number of items before it. All pairs are compared, which is
// more work than sorting and takes no time: no barriers between rounds, and every workgroup works on its own items.
@group(0) @binding(2) var<storage, read> list: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> status: array<u32, 4>;
const PARTS: u32 = 16u;               // threads that compare for one item
const MEMBERS: u32 = WG / PARTS;      // items of a workgroup

var<workgroup> places: array<atomic<u32>, MEMBERS>;

@compute @workgroup_size(WG)
fn rank(inv: Invocation) {
    let listed = min(atomicLoad(&work[COUNT_LISTED]), params.list_room);
    let member = inv.local / PARTS;
    let part = inv.local % PARTS;
    let at = inv.group.x * MEMBERS + member;
    if (part == 0u) {
        atomicStore(&places[member], 0u);
    }
    workgroupBarrier();
    var mine = NO_ITEM;
    if (at < listed) {
        mine = list[at];
        var earlier = 0u;
        for (var i = part; i < listed; i += PARTS) {
            earlier += u32(before(list[i], mine));                          //: compare
        }
        atomicAdd(&places[member], earlier);
    }
    workgroupBarrier();
    if (part == 0u && at < listed) {
        let place = atomicLoad(&places[member]);
        if (place < params.k && mine.y < item_count()) {
            put(place, mine);                                               //: put
        }
    }
    if (inv.group.x == 0u && inv.local == 0u) {
        status[0] = min(listed, params.k);
        status[1] = listed;
        status[2] = atomicLoad(&work[COUNT_FOUND]);
        status[3] = atomicLoad(&work[COUNT_KEPT]);
    }
}
