//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
//#include lib/scan.wgsl
//#include expansion/scan/block.wgsl
// Prefix sum, second of three passes: one workgroup turns the block sums into block offsets, WG at a time with a
// carry, and then knows P2.
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;

var<workgroup> any_wrapped: atomic<u32>;

@compute @workgroup_size(WG)
fn spine(@builtin(local_invocation_index) local: u32) {
    if (local == 0u) {
        atomicStore(&any_wrapped, 0u);
    }
    let blocks = block_count();
    var carry = 0u;
    for (var first = 0u; first < blocks; first += WG) {
        let block = first + local;
        var sum = 0u;
        if (block < blocks) {
            sum = sums[block];                                              //: load
        }
        let upto = workgroup_scan(local, sum);                              //: scan
        if (upto < sum || carry + upto < carry) {
            atomicOr(&any_wrapped, 1u);
        }
        if (block < blocks) {
            sums[block] = carry + upto - sum;                               //: store
        }
        carry += workgroup_total();
        workgroupBarrier();
    }
    workgroupBarrier();
    if (local == 0u) {
        launch(settle(carry, select(0u, FAILED_OVERFLOW, atomicLoad(&any_wrapped) != 0u)));   //: launch
    }
}
