// What a thread is told about itself, its place in the subgroup included.
struct Invocation {
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
    @builtin(subgroup_invocation_id) lane: u32,
    @builtin(subgroup_id) subgroup: u32,
}

fn subgroup_of(inv: Invocation) -> u32 {
    return inv.subgroup;
}

fn lane_of(inv: Invocation) -> u32 {
    return inv.lane;
}
