//#include lib/scan.wgsl
// The pair up to which the k best of some pairs lie, or a little beyond, by one workgroup: (1) the range of the keys is cut into
// 2048 bins, (2) the k-th lies in one of them, (3) which is the new range while too many others lie in it too; where all of it
// is one key, the range is of indices. The including shader has `fn pair(at: u32) -> vec2<u32>`. All threads call it.
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
// One workgroup has little to hide the latency of memory behind, so each thread asks for eight items at a time.
const AHEAD: u32 = 8u;
alias Items = array<vec2<u32>, AHEAD>;

fn pair_or_none(at: u32, all: u32) -> vec2<u32> {
    return select(NO_ITEM, pair(min(at, all - 1u)), at < all);
}

fn load_items(at: u32, all: u32) -> Items {
    return Items(
        pair_or_none(at, all), pair_or_none(at + WG, all), pair_or_none(at + 2u * WG, all), pair_or_none(at + 3u * WG, all),
        pair_or_none(at + 4u * WG, all), pair_or_none(at + 5u * WG, all), pair_or_none(at + 6u * WG, all),
        pair_or_none(at + 7u * WG, all)
    );
}

fn widen(span: vec2<u32>, item: vec2<u32>) -> vec2<u32> {
    let wider = vec2<u32>(min(span.x, item.x), max(span.y, item.x));
    return select(span, wider, any(item != NO_ITEM));
}

// The smallest and the greatest key; the smallest is greater than the greatest where no pair is an item.
fn whole_range(local: u32, all: u32) -> vec2<u32> {
    var span = vec2<u32>(0xFFFFFFFFu, 0u);
    for (var i = local; i < all; i += AHEAD * WG) {
        let items = load_items(i, all);
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
fn narrow(local: u32, all: u32, range: Range, of_index: bool, key: u32) -> Range {
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
    for (var i = local; i < all; i += AHEAD * WG) {
        let items = load_items(i, all);
        // Written out eight times, this took SwiftShader 10 to 16 seconds to compile.
        for (var j = 0u; j < AHEAD; j++) {
            count_one(items[j], range.low, range.high, shift, of_index, key);
        }
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

// A pair up to which there are k to k + enough; NO_ITEM where there are fewer than k.
fn limit_of(local: u32, all: u32, enough: u32) -> vec2<u32> {
    let span = whole_range(local, all);
    if (span.x > span.y) {
        return NO_ITEM;
    }
    var of_index = false;
    var key = 0u;
    var range = Range(span.x, span.y, params.k, all);
    // Eleven bits a round, of the key and then of the index: six rounds at most. Ranges of indices begin with all of them.
    for (var round = 0u; round < 6u; round++) {
        range = narrow(local, all, range, of_index, key);                //: narrow
        if (range.need == 0u) {
            return NO_ITEM;
        }
        if (range.inside - range.need <= enough) {
            break;
        }
        if (!of_index && range.low == range.high) {
            of_index = true;
            key = range.low;
            range = Range(0u, 0xFFFFFFFFu, range.need, range.inside);
        }
    }
    return select(vec2<u32>(range.high, 0xFFFFFFFFu), vec2<u32>(key, range.high), of_index);
}

