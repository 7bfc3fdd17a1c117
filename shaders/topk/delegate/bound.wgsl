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
    need: u32,     // how many of the k-th's range belong to the best k
    inside: u32,   // how many lie in it
}

var<workgroup> narrow_bins: array<atomic<u32>, NARROW>;
var<workgroup> lowest: atomic<u32>;
var<workgroup> highest: atomic<u32>;
var<workgroup> found: atomic<u32>;
var<workgroup> shared_range: Range;

// The smallest and the greatest key, and how many pieces have an item that counts.
fn whole_range(local: u32, pieces: u32) -> Range {
    if (local == 0u) {
        atomicStore(&lowest, 0xFFFFFFFFu);
        atomicStore(&highest, 0u);
        atomicStore(&found, 0u);
    }
    workgroupBarrier();
    var low = 0xFFFFFFFFu;
    var high = 0u;
    var count = 0u;
    for (var i = local; i < pieces; i += WG) {
        let item = best[i];
        if (any(item != NO_ITEM)) {
            low = min(low, item.x);
            high = max(high, item.x);
            count += 1u;
        }
    }
    atomicMin(&lowest, low);
    atomicMax(&highest, high);
    atomicAdd(&found, count);
    workgroupBarrier();
    return Range(atomicLoad(&lowest), atomicLoad(&highest), params.k, atomicLoad(&found));
}

// The bin of the k-th item within a range of keys, or of indices of one key.
fn narrow(local: u32, pieces: u32, range: Range, of_index: bool, key: u32) -> Range {
    let each = NARROW / WG;
    let span = range.high - range.low;
    let bits = 32u - countLeadingZeros(span);
    let shift = select(0u, bits - 11u, bits > 11u);
    for (var i = local; i < NARROW; i += WG) {
        atomicStore(&narrow_bins[i], 0u);
    }
    workgroupBarrier();
    for (var i = local; i < pieces; i += WG) {
        let item = best[i];
        let value = select(item.x, item.y, of_index);
        let counts = any(item != NO_ITEM) && (!of_index || item.x == key);
        if (counts && value >= range.low && value <= range.high) {
            atomicAdd(&narrow_bins[(value - range.low) >> shift], 1u);      //: count
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

// The pair up to which items matter.
fn limit_of(local: u32, pieces: u32) -> vec2<u32> {
    let whole = whole_range(local, pieces);
    if (local == 0u) {
        shared_range = whole;
    }
    var range = workgroupUniformLoad(&shared_range);
    // Fewer pieces than k say nothing: everything may be among the best.
    if (range.inside < range.need) {
        return NO_ITEM;
    }
    let enough = max(32u, params.k / 8u);
    var of_index = false;
    var key = 0u;
    // Eleven bits a round, of the key and then of the index: six rounds at most.
    for (var round = 0u; round < 6u; round++) {
        if (range.inside - range.need <= enough) {
            break;
        }
        if (!of_index && range.low == range.high) {
            of_index = true;
            key = range.low;
            range = Range(0u, item_count() - 1u, range.need, range.inside);
        }
        range = narrow(local, pieces, range, of_index, key);                //: narrow
    }
    return select(vec2<u32>(range.high, 0xFFFFFFFFu), vec2<u32>(key, range.high), of_index);
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
    }
    for (var i = local; i < pieces; i += WG) {
        let item = best[i];
        if (any(item != NO_ITEM) && !before(limit, item)) {
            picked[atomicAdd(&work[COUNT_PICKED], 1u)] = i;                 //: pick
        }
    }
}
