//#include <emit>
//#include lib/threads.wgsl
//#include lib/scan.wgsl
//#include lib/settled.wgsl
//#include expansion/tile_search/tile.wgsl
// Load-balancing search, pass 2: a workgroup works out its tile in workgroup memory.
// (1) Count one head at the place where each src of the tile ends, which is where the next one begins. Several can
// meet at one place: src with N = 0. (2) An inclusive sum over the heads says for each item how many src have ended.
// (3) Threads take the items in turns, neighbours next to each other.
// A tile can span millions of empty src. Beyond LONGEST_SPAN each item searches for itself, so rounds stay bounded.
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read> tile_src: array<u32>;
@group(0) @binding(3) var<storage, read> state: Settled;

// Sixteen rounds of counting cost about as much as the searches of a tile.
const LONGEST_SPAN: u32 = 16u * WG;

var<workgroup> heads: array<atomic<u32>, TILE>;

// How many of the src low .. high - 1 end at `item` or before, and those before them.
fn owner(item: u32, first: u32, last: u32) -> u32 {
    var low = first;
    var high = last;
    while (low < high) {
        let middle = low + (high - low) / 2u;                               //: probe
        if (ends[middle] <= item) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

@compute @workgroup_size(WG)
fn tile_items(inv: Invocation) {
    let tile = group_index(inv);
    var first = 0u;
    var last = 0u;
    var begins = 0u;
    var items = 0u;
    if (tile < tile_count(state.total)) {
        first = tile_src[tile];                                             //: load
        last = tile_src[tile + 1u];
        begins = tile * TILE;
        items = min(TILE, state.total - begins);
    }
    let counted = last - first <= LONGEST_SPAN;

    for (var i = inv.local; i < TILE; i += WG) {
        atomicStore(&heads[i], 0u);                                         //: zero
    }
    workgroupBarrier();
    if (counted) {
        for (var src = first + inv.local; src < last; src += WG) {
            atomicAdd(&heads[ends[src] - begins], 1u);                      //: count
        }
    }
    workgroupBarrier();
    var sum = 0u;
    for (var i = 0u; i < ITEMS; i++) {
        sum += atomicLoad(&heads[inv.local * ITEMS + i]);                   //: sum
    }
    var ended = first + workgroup_scan(inv.local, sum) - sum;               //: scan
    for (var i = 0u; i < ITEMS; i++) {
        ended += atomicLoad(&heads[inv.local * ITEMS + i]);
        atomicStore(&heads[inv.local * ITEMS + i], ended);                  //: spread
    }
    workgroupBarrier();

    // All threads of the workgroup take as many steps, at least one; the last ones may be idle.
    for (var i = inv.local; i < max(WG, items + (WG - items % WG) % WG); i += WG) {
        begin(inv, NO_THREAD);
        if (i < items) {
            let item = begins + i;
            var src = atomicLoad(&heads[i]);                                //: look
            if (!counted) {
                src = owner(item, first, last);
            }
            var start = 0u;
            if (src > 0u) {
                start = ends[src - 1u];                                     //: start
            }
            emit(inv, src, item - start, item, src);                        //: work
        }
    }
}
