//#include topk/item.wgsl
//#include topk/work.wgsl
//#include lib/scan.wgsl
// Delegates, second pass, by one workgroup: at least k pieces have a best item up to the k-th best of them, so at least k items
// lie up to it, and everything wanted does. Only pieces whose best reaches that bound are listed for another look.
// The bound may lie a little beyond the k-th: (1) the range of the keys is cut into 2048 bins, (2) the k-th lies in one of them,
// (3) which is the new range while too many others lie in it too; where all of it is one key, the range is of indices.
@group(0) @binding(4) var<storage, read> best: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> picked: array<u32>;
const NARROW: u32 = 2048u;

struct Range {
    low: u32,
    high: u32,
    need: u32,     // how many of the best k lie in it, and those before it do not count
    inside: u32,   // how many lie in it
}

var<workgroup> narrow_bins: array<atomic<u32>, NARROW>;
var<workgroup> ends: array<vec2<u32>, WG>;
var<workgroup> shared_range: Range;
var<workgroup> picks: atomic<u32>;

// One workgroup has little to hide the latency of memory behind, so each thread asks for eight items at a time.
const AHEAD: u32 = 8u;
alias Items = array<vec2<u32>, AHEAD>;

fn piece(at: u32, pieces: u32) -> vec2<u32> {
    return select(NO_ITEM, best[min(at, pieces - 1u)], at < pieces);
}

fn load_items(at: u32, pieces: u32) -> Items {
    return Items(
        piece(at, pieces), piece(at + WG, pieces), piece(at + 2u * WG, pieces), piece(at + 3u * WG, pieces),
        piece(at + 4u * WG, pieces), piece(at + 5u * WG, pieces), piece(at + 6u * WG, pieces), piece(at + 7u * WG, pieces)
    );
}

fn widen(span: vec2<u32>, item: vec2<u32>) -> vec2<u32> {
    let wider = vec2<u32>(min(span.x, item.x), max(span.y, item.x));
    return select(span, wider, any(item != NO_ITEM));
}

// The smallest and the greatest key; the smallest is greater than the greatest where no piece has an item that counts.
fn whole_range(local: u32, pieces: u32) -> vec2<u32> {
    var span = vec2<u32>(0xFFFFFFFFu, 0u);
    for (var i = local; i < pieces; i += AHEAD * WG) {
        let items = load_items(i, pieces);
        span = widen(widen(widen(widen(span, items[0]), items[1]), items[2]), items[3]);
        span = widen(widen(widen(widen(span, items[4]), items[5]), items[6]), items[7]);
    }
    ends[local] = span;
    workgroupBarrier();
    for (var half = WG / 2u; half > 0u; half >>= 1u) {
        if (local < half) {
            let other = ends[local + half];
            ends[local] = vec2<u32>(min(ends[local].x, other.x), max(ends[local].y, other.y));
        }
        workgroupBarrier();
    }
    return workgroupUniformLoad(&ends[0]);
}

fn count_one(item: vec2<u32>, low: u32, high: u32, shift: u32, of_index: bool, key: u32) {
    let value = select(item.x, item.y, of_index);
    let counts = any(item != NO_ITEM) && (!of_index || item.x == key);
    if (counts && value >= low && value <= high) {
        atomicAdd(&narrow_bins[(value - low) >> shift], 1u);                //: count
    }
}

// The bin of the k-th item within a range of keys, or of indices of one key. Nothing is needed of a range with fewer.
fn narrow(local: u32, pieces: u32, range: Range, of_index: bool, key: u32) -> Range {
    let each = NARROW / WG;
    let span = range.high - range.low;
    let bits = 32u - countLeadingZeros(span);
    let shift = select(0u, bits - 11u, bits > 11u);
    for (var i = local; i < NARROW; i += WG) {
        atomicStore(&narrow_bins[i], 0u);
    }
    if (local == 0u) {
        shared_range = Range(0u, 0u, 0u, 0u);
    }
    workgroupBarrier();
    for (var i = local; i < pieces; i += AHEAD * WG) {
        let items = load_items(i, pieces);
        count_one(items[0], range.low, range.high, shift, of_index, key);
        count_one(items[1], range.low, range.high, shift, of_index, key);
        count_one(items[2], range.low, range.high, shift, of_index, key);
        count_one(items[3], range.low, range.high, shift, of_index, key);
        count_one(items[4], range.low, range.high, shift, of_index, key);
        count_one(items[5], range.low, range.high, shift, of_index, key);
        count_one(items[6], range.low, range.high, shift, of_index, key);
        count_one(items[7], range.low, range.high, shift, of_index, key);
    }
    workgroupBarrier();
    var sum = 0u;
    for (var i = 0u; i < each; i++) {
        sum += atomicLoad(&narrow_bins[local * each + i]);
    }
    let upto = workgroup_scan(local, sum);
    if (upto >= range.need && upto - sum < range.need) {
        var below = upto - sum;
        var bin = local * each;
        var here = atomicLoad(&narrow_bins[bin]);
        for (var i = 1u; i < each && below + here < range.need; i++) {
            below += here;
            bin += 1u;
            here = atomicLoad(&narrow_bins[bin]);
        }
        let low = range.low + (bin << shift);
        let high = low + min((1u << shift) - 1u, range.high - low);
        shared_range = Range(low, high, range.need - below, here);          //: choose
    }
    return workgroupUniformLoad(&shared_range);
}

// The pair up to which items matter; NO_ITEM where there are fewer pieces than k, which say nothing: everything may be among
// the best.
fn limit_of(local: u32, pieces: u32) -> vec2<u32> {
    let span = whole_range(local, pieces);
    if (span.x > span.y) {
        return NO_ITEM;
    }
    let enough = max(32u, params.k / 8u);
    var of_index = false;
    var key = 0u;
    var range = Range(span.x, span.y, params.k, pieces);
    // Eleven bits a round, of the key and then of the index: six rounds at most.
    for (var round = 0u; round < 6u; round++) {
        range = narrow(local, pieces, range, of_index, key);                //: narrow
        if (range.need == 0u) {
            return NO_ITEM;
        }
        if (range.inside - range.need <= enough) {
            break;
        }
        if (!of_index && range.low == range.high) {
            of_index = true;
            key = range.low;
            range = Range(0u, item_count() - 1u, range.need, range.inside);
        }
    }
    return select(vec2<u32>(range.high, 0xFFFFFFFFu), vec2<u32>(key, range.high), of_index);
}

fn pick(item: vec2<u32>, limit: vec2<u32>, place: u32) {
    if (any(item != NO_ITEM) && !before(limit, item)) {
        picked[atomicAdd(&picks, 1u)] = place;                              //: pick
    }
}

@compute @workgroup_size(WG)
fn bound(@builtin(local_invocation_index) local: u32) {
    let pieces = arrayLength(&best);
    var limit = limit_of(local, pieces);                                    //: bound
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
