//#include lib/invocation.wgsl
// A vertex is told its index and nothing else: its place in a subgroup is what it would be if the vertices of each
// draw filled subgroups of LANES from their first lane on.
fn subgroup_of(inv: Invocation) -> u32 {
    return inv.local / LANES;
}

fn lane_of(inv: Invocation) -> u32 {
    return inv.local % LANES;
}
