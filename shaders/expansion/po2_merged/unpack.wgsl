//#include <emit>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
//#include expansion/po2/buckets.wgsl
//#include expansion/po2/find.wgsl
//#include expansion/po2/piece.wgsl
// Power-of-two buckets, pass 2: no search among the src, only among 32 buckets.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<u32>;
@group(0) @binding(5) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn unpack(inv: Invocation) {
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
    let entry = item >> bucket;
    let found = piece(first_entry(bucket) + entry, bucket);
    emit(inv, found.x, found.y + (item & ((1u << bucket) - 1u)), first + item, entry);   //: work
}
