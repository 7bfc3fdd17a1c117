//#include topk/params.wgsl
//#include topk/work.wgsl
//#include topk/delegate/narrow.wgsl
// Delegates, fourth pass, by one workgroup. Mostly what passed the bound fits the list as it is, and there is nothing to do. Else
// a narrower bound is found from everything that passed, and what reaches it moves to the front.
@group(0) @binding(5) var<storage, read_write> kept: array<vec2<u32>>;

var<workgroup> shared_found: u32;
var<workgroup> listed: atomic<u32>;

fn pair(at: u32) -> vec2<u32> {
    return kept[at];
}

fn keep(item: vec2<u32>, limit: vec2<u32>) {
    if (any(item != NO_ITEM) && !before(limit, item)) {
        kept[atomicAdd(&listed, 1u)] = item;                                //: keep
    }
}

@compute @workgroup_size(WG)
fn finish(@builtin(local_invocation_index) local: u32) {
    if (local == 0u) {
        shared_found = atomicLoad(&work[COUNT_FOUND]);
        atomicStore(&listed, 0u);
    }
    let all = min(workgroupUniformLoad(&shared_found), arrayLength(&kept));
    if (all <= params.list_room) {
        if (local == 0u) {
            atomicStore(&work[COUNT_LISTED], all);                          //: stop
        }
        return;
    }
    let limit = limit_of(local, all, params.list_room - params.k);          //: narrow
    for (var start = 0u; start < all; start += AHEAD * WG) {
        let items = load_items(start + local, all);
        // Nothing is overwritten that has not been read: as many items move at most as have been.
        storageBarrier();
        workgroupBarrier();
        keep(items[0], limit);
        keep(items[1], limit);
        keep(items[2], limit);
        keep(items[3], limit);
        keep(items[4], limit);
        keep(items[5], limit);
        keep(items[6], limit);
        keep(items[7], limit);
    }
    workgroupBarrier();
    if (local == 0u) {
        atomicStore(&work[COUNT_LISTED], atomicLoad(&listed));
    }
}
