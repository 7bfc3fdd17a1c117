//#include <emit>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
//#include expansion/po2_merged/buckets.wgsl
// Power-of-two buckets, pass 2: no search among the src, only among 32 buckets.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<u32>;
@group(0) @binding(3) var<storage, read> ranges: array<u32, 66>;
@group(0) @binding(5) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn unpack(inv: Invocation) {
    let thread = thread_index(inv);
    if (state.total == 0u || thread >= ranges[32]) {
        begin(inv, NO_THREAD);
        return;
    }
    // The last bucket that begins at or before the thread; five probes, the same ones for the whole subgroup.
    var bucket = 0u;
    for (var step = 16u; step != 0u; step >>= 1u) {
        if (ranges[bucket + step] <= thread) {                              //: bucket
            bucket += step;
        }
    }
    begin(inv, bucket);
    let item = thread - ranges[bucket];
    let first = ranges[33u + bucket];
    if (item >= ranges[34u + bucket] - first) {                             //: padding
        return;
    }
    let entry = item >> bucket;
    let src = entries[first_entry(bucket) + entry];                         //: entry
    // The entry's offset within its src is not stored: it is what the lower bits of N stand for.
    let below = counts[src] & ((1u << bucket) - 1u);
    emit(inv, src, below + (item & ((1u << bucket) - 1u)), first + item, entry);   //: work
}
