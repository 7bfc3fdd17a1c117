//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/settled.wgsl
//#include lib/scan.wgsl
//#include expansion/head_scan/block.wgsl
// Head scan, scan over the output, first of three passes: the heads in each block. There are at most P1 in all, so no
// sum can wrap.
@group(0) @binding(1) var<storage, read> heads: array<u32>;
@group(0) @binding(2) var<storage, read> state: Settled;
@group(0) @binding(3) var<storage, read_write> head_sums: array<u32>;

@compute @workgroup_size(WG)
fn heads_reduce(inv: Invocation) {
    let block = group_index(inv);
    let inside = block < block_count(state.total);
    var sum = 0u;
    if (inside) {
        // Neighbouring threads read neighbouring heads.
        for (var i = 0u; i < ROW; i++) {
            let item = block * BLOCK + i * WG + inv.local;
            if (item < state.total) {
                sum += heads[item];                                         //: load
            }
        }
    }
    let upto = workgroup_scan(inv.local, sum);                              //: reduce
    if (inside && inv.local == WG - 1u) {
        head_sums[block] = upto;                                            //: store
    }
}
