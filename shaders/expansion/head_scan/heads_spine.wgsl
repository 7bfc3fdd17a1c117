//#include lib/settled.wgsl
//#include lib/scan.wgsl
//#include expansion/head_scan/block.wgsl
// Head scan, scan over the output, second of three passes: one workgroup turns the sums of the blocks into offsets,
// WG at a time with a carry.
@group(0) @binding(2) var<storage, read> state: Settled;
@group(0) @binding(3) var<storage, read_write> head_sums: array<u32>;

@compute @workgroup_size(WG)
fn heads_spine(@builtin(local_invocation_index) local: u32) {
    let blocks = block_count(state.total);
    var carry = 0u;
    for (var first = 0u; first < blocks; first += WG) {
        let block = first + local;
        var sum = 0u;
        if (block < blocks) {
            sum = head_sums[block];                                         //: load
        }
        let upto = workgroup_scan(local, sum);                              //: scan
        if (block < blocks) {
            head_sums[block] = carry + upto - sum;                          //: store
        }
        carry += workgroup_total();
        workgroupBarrier();
    }
}
