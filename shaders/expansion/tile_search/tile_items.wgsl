//#include <emit4>
//#include lib/threads.wgsl
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
    let marked = last - first <= LONGEST_SPAN;

    if (inv.local < WORDS) {
        atomicStore(&marks[inv.local], 0u);                                 //: zero
    }
    workgroupBarrier();
    if (marked) {
        for (var src = first + 1u + inv.local; src <= last; src += WG) {
            let place = ends[src - 1u] - begins;
            if (place < items && ends[src] - begins > place) {
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

    // All threads of the workgroup take as many rows of four, at least one; the last items may be idle.
    let rows = max(1u, (items + ROW - 1u) / ROW);
    var carried = vec2<u32>(first, start_of(first) - begins);   // wraps where it began before the tile, and back below
    var earlier = 0u;
    for (var half = 0u; half < 2u; half++) {
        if (marked) {
            for (var src = first + 1u + inv.local; src <= last; src += WG) {
                let place = ends[src - 1u] - begins;
                if (place < items && place / HALF == half && ends[src] - begins > place) {
                    owners[rank(place) - earlier] = ((src - first) << PLACE_BITS) | place;    //: own
                }
            }
        }
        workgroupBarrier();
        for (var row = half * HALF / ROW; row < min(rows, (half + 1u) * HALF / ROW); row++) {
            let at = row * ROW + 4u * inv.local;
            let count = min(4u, max(items, at) - at);
            var src = vec4<u32>(first);
            var start = vec4<u32>(0u);
            if (!marked) {
                for (var i = 0u; i < count; i++) {
                    src[i] = owner(begins + at + i, first, last);
                    start[i] = start_of(src[i]) - begins;
                }
            } else if (count > 0u) {
                let bits = atomicLoad(&marks[at / 32u]) >> (at % 32u);      //: look
                let found = rank(at) - earlier;
                let a = own(found + (bits & 1u), first, carried);
                let b = own(found + countOneBits(bits & 3u), first, carried);
                let c = own(found + countOneBits(bits & 7u), first, carried);
                let d = own(found + countOneBits(bits & 15u), first, carried);
                src = vec4<u32>(a.x, b.x, c.x, d.x);
                start = vec4<u32>(a.y, b.y, c.y, d.y);
            }
            let place = vec4<u32>(at, at + 1u, at + 2u, at + 3u);
            emit4(inv, count, src, place - start, begins + at);             //: work
        }
        if (half == 0u) {
            let upto = rank(HALF);
            carried = own(upto, first, carried);
            earlier = upto;
        }
        workgroupBarrier();
    }
}
