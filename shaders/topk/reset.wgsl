//#include lib/invocation.wgsl
//#include topk/work.wgsl
// Zeroes everything that later passes count in. Every run starts with it.
@compute @workgroup_size(WG)
fn reset(inv: Invocation) {
    for (var i = inv.group.x * WG + inv.local; i < arrayLength(&work); i += inv.groups.x * WG) {
        atomicStore(&work[i], 0u);                                          //: reset
    }
}
