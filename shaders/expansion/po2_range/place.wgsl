//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include expansion/po2/buckets.wgsl
// Ranges, pass 1: each src goes to the one bucket b = floor(log2 N), as one piece of N items. The bucket is cut in
// ranges of 2^b items, and the src writes an entry for every range that begins inside its piece: one or two, because
// 2^b <= N < 2^(b+1).
// (1) Add up the workgroup's items in every bucket; what the sum was before is the place within the workgroup.
// (2) Reserve them, one global atomic for each bucket and workgroup. (3) Write.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> items: array<atomic<u32>, BUCKETS>;
@group(0) @binding(3) var<storage, read_write> entries: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> state: State;

var<workgroup> next: array<atomic<u32>, BUCKETS>;

@compute @workgroup_size(WG)
fn place(inv: Invocation) {
    // Workgroup memory keeps what earlier workgroups left.
    if (inv.local < BUCKETS) {
        atomicStore(&next[inv.local], 0u);
    }
    workgroupBarrier();
    let src = thread_index(inv);
    var n = 0u;
    if (src < params.src_count) {
        n = counts[src];                                                    //: load
    }
    var bucket = 0u;
    var start = 0u;
    if (n != 0u) {
        bucket = firstLeadingBit(n);
        start = atomicAdd(&next[bucket], n);                                //: count
        if (start + n < start) {
            atomicOr(&state.failure, FAILED_OVERFLOW);
        }
    }
    workgroupBarrier();
    if (inv.local < BUCKETS) {
        let mine = atomicLoad(&next[inv.local]);
        let before = atomicAdd(&items[inv.local], mine);                    //: reserve
        if (before + mine < before) {
            atomicOr(&state.failure, FAILED_OVERFLOW);
        }
        atomicStore(&next[inv.local], before);
    }
    workgroupBarrier();
    if (n == 0u) {
        return;
    }
    start += atomicLoad(&next[bucket]);
    let first = (start >> bucket) + u32((start & ((1u << bucket) - 1u)) != 0u);
    for (var range = first; range < first + 2u; range++) {
        let slot = first_entry(bucket) + range;
        // A range that begins at or after the end of the piece is another src's.
        if ((range << bucket) - start < n && slot < first_entry(bucket + 1u)) {
            entries[slot] = vec2<u32>(src, start);                          //: write
        }
    }
}
