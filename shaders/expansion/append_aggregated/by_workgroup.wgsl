//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/scan.wgsl
//#include expansion/append/infos.wgsl
// Append with one atomic for each workgroup, where the device has no subgroup operations.
// (1) Take N. (2) The workgroup scans its N; one thread reserves for all. (3) Write.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

var<workgroup> shared_base: u32;

@compute @workgroup_size(WG)
fn by_workgroup(inv: Invocation) {
    let src = thread_index(inv);
    var n = 0u;
    if (src < params.src_count) {
        n = counts[src];                                                    //: load
    }
    let upto = workgroup_scan(inv.local, n);                                //: sum
    if (upto < n) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    if (inv.local == WG - 1u) {
        let base = atomicAdd(&state.total, upto);                           //: reserve
        if (base + upto < base) {
            atomicOr(&state.failure, FAILED_OVERFLOW);
        }
        shared_base = base;
    }
    workgroupBarrier();
    write_infos(src, n, shared_base + upto - n);
}
