//#include topk/item.wgsl
//#include topk/work.wgsl
// Atomic heap: one heap of the k best, its worst on top, shared by all threads behind a lock. One workgroup: only its
// threads are sure to make progress together.
// (1) What is worse than the top need not wait. (2) Take the lock; whoever does not get it asks again, after the one who
// has it is done, because both branches end before the loop goes round. (3) Replace the top and let it sink.
@group(0) @binding(5) var<storage, read_write> kept: array<vec2<u32>>;
const ROOM: u32 = 1024u;

var<workgroup> heap_keys: array<atomic<u32>, ROOM>;
var<workgroup> heap_indices: array<atomic<u32>, ROOM>;
var<workgroup> lock: atomic<u32>;
var<workgroup> lost: atomic<u32>;

fn at(place: u32) -> vec2<u32> {
    return vec2<u32>(atomicLoad(&heap_keys[place]), atomicLoad(&heap_indices[place]));
}

fn put_at(place: u32, item: vec2<u32>) {
    atomicStore(&heap_keys[place], item.x);
    atomicStore(&heap_indices[place], item.y);
}

fn sink(item: vec2<u32>, size: u32) {
    var place = 0u;
    for (var child = 1u; child < size; child = 2u * place + 1u) {
        if (child + 1u < size && before(at(child), at(child + 1u))) {
            child += 1u;
        }
        let worse = at(child);
        if (!before(item, worse)) {
            break;
        }
        put_at(place, worse);                                                  //: sink
        place = child;
    }
    put_at(place, item);
}

@compute @workgroup_size(WG)
fn heap(@builtin(local_invocation_index) local: u32) {
    let size = min(params.k, ROOM);
    for (var i = local; i < size; i += WG) {
        put_at(i, NO_ITEM);
    }
    if (local == 0u) {
        atomicStore(&lock, 0u);
        atomicStore(&lost, 0u);
    }
    workgroupBarrier();
    let items = item_count();
    for (var i = local; i < items; i += WG) {
        let item = item_at(i, items);
        // The top only gets better, so a key that is worse now stays worse. Its index may be another's by now.
        var waits = any(item != NO_ITEM) && item.x <= atomicLoad(&heap_keys[0]);   //: top
        while (waits) {
            if (atomicCompareExchangeWeak(&lock, 0u, 1u).exchanged) {       //: lock
                if (before(item, at(0u))) {
                    sink(item, size);
                }
                waits = false;
                atomicStore(&lock, 0u);
            }
        }
        // Some drivers end long loops in silence.
        if (waits) {
            atomicStore(&lost, 1u);
        }
    }
    workgroupBarrier();
    for (var i = local; i < size; i += WG) {
        let item = at(i);
        if (any(item != NO_ITEM)) {
            kept[atomicAdd(&work[COUNT_FOUND], 1u)] = item;                 //: store
        }
    }
    storageBarrier();
    workgroupBarrier();
    if (local == 0u && atomicLoad(&lost) != 0u) {
        atomicStore(&work[COUNT_FOUND], 0xFFFFFFFFu);
    }
}
