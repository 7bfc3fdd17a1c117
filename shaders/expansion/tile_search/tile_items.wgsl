//#include <emit4>
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/settled.wgsl
//#include expansion/tile_search/tile.wgsl
// Load-balancing search, pass 2: a workgroup works out its tile in workgroup memory.
// (1) Every src that begins inside the tile sets the bit of its first item; a src with N = 0 sets none. (2) The bits
// before an item are the number of src that began there: its rank. (3) Every src writes itself down under its rank.
// (4) A thread takes four neighbouring items at a time: it counts bits for the first one, and looks up a new src only
// where a bit is set.
// Steps 3 and 4 go over the tile in halves, so that the owners need half the workgroup memory; a tile of this size is
// what hides the loads before it behind the stores of others.
// A tile can span millions of empty src. Beyond LONGEST_SPAN each item searches for itself, so rounds stay bounded.
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read> tile_src: array<u32>;
@group(0) @binding(3) var<storage, read> state: Settled;

// Sixteen rounds of marking cost about as much as the searches of a tile. An owner packs the src's distance from the
// tile's first one, at most LONGEST_SPAN <= 2^12, above its first item's place, below TILE <= 2^12.
const LONGEST_SPAN: u32 = 16u * WG;
const PLACE_BITS: u32 = 12u;
const WORDS: u32 = TILE / 32u;
const ROW: u32 = 4u * WG;
const HALF: u32 = TILE / 2u;

var<workgroup> marks: array<atomic<u32>, WORDS>;
var<workgroup> before: array<u32, WORDS>;          // bits in the earlier words of the same eight
var<workgroup> before_eight: array<u32, WORDS / 8u>;  // bits in all earlier eights
var<workgroup> owners: array<u32, HALF>;

// The workgroup's tile.
struct Tile {
    first: u32,      // the src of its first item
    last: u32,       // no later src has an item in it
    begins: u32,     // its first item
    items: u32,
    rows: u32,       // of four items for each thread: at least one, so that every thread takes a step
    marked: bool,
}

// The bits in front of `place`, its own not counted.
fn rank(place: u32) -> u32 {
    let word = place / 32u;
    let below = atomicLoad(&marks[word]) & ((1u << (place % 32u)) - 1u);
    return before_eight[word / 8u] + before[word] + countOneBits(below);
}

// (src, its first item's place) of the `found`-th mark of the half from 1 on; 0 is who owns the items before them all.
fn own(found: u32, first: u32, carried: vec2<u32>) -> vec2<u32> {
    if (found == 0u) {
        return carried;
    }
    let packed = owners[found - 1u];
    return vec2<u32>(first + (packed >> PLACE_BITS), packed & ((1u << PLACE_BITS) - 1u));
}

// The src of `item` among first .. last.
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

fn start_of(src: u32) -> u32 {
    if (src == 0u) {
        return 0u;
    }
    return ends[src - 1u];
}

// One row of a tile too sparse to be marked: (src, start) of each item by a search of its own.
fn search_row(inv: Invocation, tile: Tile, at: u32, count: u32) {
    var src = vec4<u32>(tile.first);
    var place = vec4<u32>(0u);
    for (var i = 0u; i < count; i++) {
        src[i] = owner(tile.begins + at + i, tile.first, tile.last);
        place[i] = tile.begins + at + i - start_of(src[i]);
    }
    emit4(inv, count, src, place, tile.begins + at, src);
}

fn row_of_four(inv: Invocation, tile: Tile, row: u32, earlier: u32, carried: vec2<u32>) {
    if (row >= tile.rows) {
        return;
    }
    let at = row * ROW + 4u * inv.local;
    let count = min(4u, max(tile.items, at) - at);
    if (!tile.marked) {
        search_row(inv, tile, at, count);
        return;
    }
    let bits = atomicLoad(&marks[at / 32u]) >> (at % 32u);                  //: look
    let found = rank(at) - earlier;
    let a = own(found + (bits & 1u), tile.first, carried);
    let b = own(found + countOneBits(bits & 3u), tile.first, carried);
    let c = own(found + countOneBits(bits & 7u), tile.first, carried);
    let d = own(found + countOneBits(bits & 15u), tile.first, carried);
    let place = vec4<u32>(at, at + 1u, at + 2u, at + 3u) - vec4<u32>(a.y, b.y, c.y, d.y);
    let src = vec4<u32>(a.x, b.x, c.x, d.x);
    emit4(inv, count, src, place, tile.begins + at, src);                   //: work
}

// Everything of one half; returns who owns the items behind its last mark. `earlier`: the marks before the half.
fn expand_half(inv: Invocation, tile: Tile, half: u32, earlier: u32, carried: vec2<u32>) -> vec2<u32> {
    if (tile.marked) {
        for (var src = tile.first + 1u + inv.local; src <= tile.last; src += WG) {
            let place = ends[src - 1u] - tile.begins;
            if (place < tile.items && place / HALF == half && ends[src] - tile.begins > place) {
                owners[rank(place) - earlier] = ((src - tile.first) << PLACE_BITS) | place;    //: own
            }
        }
    }
    workgroupBarrier();
    // Written out: where loops are counted at run time, one around a few stores costs more than they do.
    row_of_four(inv, tile, 2u * half, earlier, carried);
    row_of_four(inv, tile, 2u * half + 1u, earlier, carried);
    let behind = own(rank(HALF) - earlier, tile.first, carried);
    workgroupBarrier();
    return behind;
}

@compute @workgroup_size(WG)
fn tile_items(inv: Invocation) {
    let number = group_index(inv);
    let tiles = tile_count(state.total);
    var tile = Tile(0u, 0u, 0u, 0u, 1u, true);
    if (number < tiles) {
        tile.first = tile_src[number];                                      //: load
        tile.last = params.src_count - 1u;
        if (number + 1u < tiles) {
            tile.last = tile_src[number + 1u];
        }
        tile.begins = number * TILE;
        tile.items = min(TILE, state.total - tile.begins);
        tile.rows = (tile.items + ROW - 1u) / ROW;
        tile.marked = tile.last - tile.first <= LONGEST_SPAN;
    }

    if (inv.local < WORDS) {
        atomicStore(&marks[inv.local], 0u);                                 //: zero
    }
    workgroupBarrier();
    if (tile.marked) {
        for (var src = tile.first + 1u + inv.local; src <= tile.last; src += WG) {
            let place = ends[src - 1u] - tile.begins;
            if (place < tile.items && ends[src] - tile.begins > place) {
                atomicOr(&marks[place / 32u], 1u << (place % 32u));         //: mark
            }
        }
    }
    workgroupBarrier();
    if (inv.local < WORDS) {
        var sum = 0u;
        for (var word = inv.local & ~7u; word < inv.local; word++) {
            sum += countOneBits(atomicLoad(&marks[word]));                  //: sum
        }
        before[inv.local] = sum;
    }
    workgroupBarrier();
    if (inv.local < WORDS / 8u) {
        var sum = 0u;
        for (var word = 7u; word < 8u * inv.local; word += 8u) {
            sum += before[word] + countOneBits(atomicLoad(&marks[word]));   //: sum-eights
        }
        before_eight[inv.local] = sum;
    }
    workgroupBarrier();
    // It wraps where the first src began before the tile, and back where a place is subtracted.
    let carried = vec2<u32>(tile.first, start_of(tile.first) - tile.begins);
    let behind = expand_half(inv, tile, 0u, 0u, carried);
    expand_half(inv, tile, 1u, rank(HALF), behind);
}
