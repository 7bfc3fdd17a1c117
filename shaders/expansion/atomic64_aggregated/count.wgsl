//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/scan.wgsl
//#include expansion/atomic64/entries.wgsl
// 64-bit counter by workgroup, pass 1: the workgroup scans its N and its entries, and adds both with one atomic.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

var<workgroup> base: array<u32, 2>;

@compute @workgroup_size(WG)
fn count(inv: Invocation) {
    let src = thread_index(inv);
    var n = 0u;
    if (src < params.src_count) {
        n = counts[src];                                                    //: load
    }
    let entries_upto = workgroup_scan(inv.local, u32(n != 0u));
    let all_entries = workgroup_total();
    workgroupBarrier();
    let items_upto = workgroup_scan(inv.local, n);                          //: scan
    let all_items = workgroup_total();
    let wrapped = items_upto < n;
    if (wrapped) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    if (inv.local == 0u) {
        let before = atomicAdd(&packed, packed_of(all_entries, all_items));  //: add
        base[0] = u32(before >> 32u);
        base[1] = u32(before & 0xFFFFFFFFlu);
        if (base[1] + all_items < base[1]) {
            atomicOr(&state.failure, FAILED_OVERFLOW);
        }
    }
    workgroupBarrier();
    if (n != 0u && !wrapped) {
        write_entry(src, n, base[0] + entries_upto - 1u, base[1] + items_upto - n);
    }
}
