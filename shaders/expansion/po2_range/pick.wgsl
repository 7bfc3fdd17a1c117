//#include <emit>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
//#include expansion/po2/buckets.wgsl
//#include expansion/po2/find.wgsl
// Ranges, pass 2: at most two pieces meet in a range, the one that its beginning lies in and the one that the next
// range's beginning lies in.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn pick(inv: Invocation) {
    let thread = thread_index(inv);
    if (state.total == 0u || thread >= ranges[THREADS + 32u]) {
        begin(inv, NO_THREAD);
        return;
    }
    let bucket = bucket_of(thread);                                         //: bucket
    begin(inv, bucket);
    let item = thread - ranges[THREADS + bucket];
    let first = ranges[ITEMS + bucket];
    if (item >= ranges[ITEMS + bucket + 1u] - first) {                      //: padding
        return;
    }
    var range = item >> bucket;
    var entry = entries[first_entry(bucket) + range];                       //: entry
    if (item - entry.y >= counts[entry.x]) {
        range += 1u;
        entry = entries[first_entry(bucket) + range];                       //: next
    }
    emit(inv, entry.x, item - entry.y, first + item, range);                //: work
}
