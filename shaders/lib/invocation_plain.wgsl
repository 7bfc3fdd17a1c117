//#include lib/invocation.wgsl
// Where a device has no subgroup operations the whole workgroup counts as one.
fn subgroup_of(inv: Invocation) -> u32 {
    return 0u;
}

fn lane_of(inv: Invocation) -> u32 {
    return inv.local;
}
