//#include lib/invocation_subgroup.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include expansion/append/infos.wgsl
// Append with one atomic for each subgroup.
// (1) Take N. (2) The subgroup's lanes add up what stands before them; one lane reserves for all. (3) Write.
// Every lane takes part in the subgroup's operations, with N = 0 where it has no src.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

@compute @workgroup_size(WG)
fn by_subgroup(inv: Invocation) {
    let src = thread_index(inv);
    var n = 0u;
    if (src < params.src_count) {
        n = counts[src];                                                    //: load
    }
    let before = subgroupExclusiveAdd(n);                                   //: sum
    let all = subgroupAdd(n);
    // The sums wrap where a lane's range does: before it everything was exact.
    let wrapped = before + n < before;
    var base = 0u;
    if (inv.lane == 0u) {
        base = atomicAdd(&state.total, all);                                //: reserve
    }
    base = subgroupBroadcastFirst(base);
    if (wrapped || base + all < base) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    write_infos(src, n, base + before);
}
