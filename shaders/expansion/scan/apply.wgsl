//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/scan.wgsl
//#include expansion/scan/block.wgsl
// Prefix sum, third of three passes: each block is scanned again from its offset. `ends[src]` is the inclusive sum:
// the end of the src's range of threads, one past its last.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> sums: array<u32>;
@group(0) @binding(3) var<storage, read_write> ends: array<u32>;

@compute @workgroup_size(WG)
fn apply(inv: Invocation) {
    let block = group_index(inv);
    let first = block * BLOCK + inv.local * ROW;
    let inside = block < block_count();
    var row: array<u32, ROW>;
    var sum = 0u;
    if (inside) {
        for (var i = 0u; i < ROW; i++) {
            if (first + i < params.src_count) {
                sum += counts[first + i];                                   //: load
            }
            row[i] = sum;
        }
    }
    let before = workgroup_scan(inv.local, sum) - sum;                      //: scan
    if (inside) {
        let offset = sums[block] + before;
        for (var i = 0u; i < ROW; i++) {
            if (first + i < params.src_count) {
                ends[first + i] = offset + row[i];                          //: store
            }
        }
    }
}
