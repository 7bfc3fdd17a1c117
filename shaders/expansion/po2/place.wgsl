//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include expansion/po2/buckets.wgsl
// Power-of-two buckets, pass 1: one entry for each set bit of N (11 = 0b1011 goes to buckets 0, 1 and 3).
// (1) Count the workgroup's entries in every bucket. (2) Reserve them, one global atomic for each bucket and
// workgroup. (3) Write. N = 0 has no bit set and takes no part.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> filled: array<atomic<u32>, BUCKETS>;
@group(0) @binding(3) var<storage, read_write> entries: array<u32>;

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
    for (var bits = n; bits != 0u; bits &= bits - 1u) {
        atomicAdd(&next[firstTrailingBit(bits)], 1u);                       //: count
    }
    workgroupBarrier();
    if (inv.local < BUCKETS) {
        let mine = atomicLoad(&next[inv.local]);
        if (mine != 0u) {
            atomicStore(&next[inv.local], atomicAdd(&filled[inv.local], mine));   //: reserve
        }
    }
    workgroupBarrier();
    for (var bits = n; bits != 0u; bits &= bits - 1u) {
        let bucket = firstTrailingBit(bits);
        let slot = first_entry(bucket) + atomicAdd(&next[bucket], 1u);
        if (slot < first_entry(bucket + 1u)) {
            entries[slot * (1u + STORED)] = src;                            //: write
            if (STORED == 1u) {
                entries[slot * 2u + 1u] = n & ((1u << bucket) - 1u);
            }
        }
    }
}
