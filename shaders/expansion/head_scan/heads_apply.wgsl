//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/settled.wgsl
//#include lib/scan.wgsl
//#include expansion/head_scan/block.wgsl
// Head scan, scan over the output, third of three passes, in place: an inclusive sum over the heads is how many src
// have ended, which is the src of the item.
@group(0) @binding(1) var<storage, read_write> heads: array<u32>;
@group(0) @binding(2) var<storage, read> state: Settled;
@group(0) @binding(3) var<storage, read> head_sums: array<u32>;

@compute @workgroup_size(WG)
fn heads_apply(inv: Invocation) {
    let block = group_index(inv);
    let first = block * BLOCK + inv.local * ROW;
    let inside = block < block_count(state.total);
    var row: array<u32, ROW>;
    var sum = 0u;
    if (inside) {
        for (var i = 0u; i < ROW; i++) {
            if (first + i < state.total) {
                sum += heads[first + i];                                    //: load
            }
            row[i] = sum;
        }
    }
    let before = workgroup_scan(inv.local, sum) - sum;                      //: scan
    if (inside) {
        let offset = head_sums[block] + before;
        for (var i = 0u; i < ROW; i++) {
            if (first + i < state.total) {
                heads[first + i] = offset + row[i];                         //: store
            }
        }
    }
}
