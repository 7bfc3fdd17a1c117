//#include <source>
//#include topk/pair_sort/blocks.wgsl
// Radix sort, third of three passes: every item to its place. Stable: equal digits keep their order, so the passes add up
// to one sort by all digits. (1) A thread counts the digits of its items in order. (2) The workgroup adds the counts up
// over its threads, two 16-bit counts to a word. (3) place = first of digit and block + items before in the block.
@group(0) @binding(4) var<storage, read> counts: array<u32>;
@group(0) @binding(5) var<storage, read_write> pairs_out: array<vec2<u32>>;

// A thread's sixteen counts: the even digits in the lower halves, the odd ones in the upper.
struct Counts {
    low: vec4<u32>,
    high: vec4<u32>,
}

var<workgroup> scanned: array<Counts, WG>;
var<workgroup> place_of: array<u32, DIGITS>;
var<workgroup> shared_count: u32;

fn word_of(counts: Counts, digit: u32) -> u32 {
    let word = select(counts.low, counts.high, digit >= 8u)[(digit / 2u) % 4u];
    return (word >> (16u * (digit % 2u))) & 0xFFFFu;
}

fn one_of(digit: u32) -> Counts {
    let bit = 1u << (16u * (digit % 2u));
    let at = vec4<u32>(0u, 1u, 2u, 3u) == vec4<u32>((digit / 2u) % 4u);
    let word = select(vec4<u32>(0u), vec4<u32>(bit), at);
    return Counts(select(word, vec4<u32>(0u), digit >= 8u), select(vec4<u32>(0u), word, digit >= 8u));
}

@compute @workgroup_size(WG)
fn scatter(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (local == 0u) {
        shared_count = sort_count();
    }
    let all = workgroupUniformLoad(&shared_count);
    let length = block_length(all);
    let first = group.x * length;
    let end = min(first + length, all);
    if (local < DIGITS) {
        place_of[local] = counts[local * block_count() + group.x];
    }
    // Every workgroup takes as many tiles: the barriers are for all threads.
    for (var start = 0u; start < length; start += TILE) {
        let begin = first + start + local * EACH;
        var mine = Counts(vec4<u32>(0u), vec4<u32>(0u));
        for (var i = begin; i < min(begin + EACH, end); i++) {
            let one = one_of(digit_of(take(i)));
            mine = Counts(mine.low + one.low, mine.high + one.high);        //: count
        }
        workgroupBarrier();
        scanned[local] = mine;
        workgroupBarrier();
        for (var step = 1u; step < WG; step <<= 1u) {
            var left = Counts(vec4<u32>(0u), vec4<u32>(0u));
            if (local >= step) {
                left = scanned[local - step];
            }
            workgroupBarrier();
            let here = scanned[local];
            scanned[local] = Counts(here.low + left.low, here.high + left.high);   //: scan
            workgroupBarrier();
        }
        let upto = scanned[local];
        var earlier = Counts(upto.low - mine.low, upto.high - mine.high);
        for (var i = begin; i < min(begin + EACH, end); i++) {
            let item = take(i);
            let digit = digit_of(item);
            let place = place_of[digit] + word_of(earlier, digit);
            if (place < arrayLength(&pairs_out)) {
                pairs_out[place] = item;                                    //: store
            }
            let one = one_of(digit);
            earlier = Counts(earlier.low + one.low, earlier.high + one.high);
        }
        workgroupBarrier();
        if (local < DIGITS) {
            place_of[local] += word_of(scanned[WG - 1u], local);
        }
    }
}
