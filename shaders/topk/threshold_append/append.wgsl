//#include topk/values.wgsl
//#include topk/work.wgsl
//#include topk/gather.wgsl
// Threshold and append, second pass: what reaches the bound goes to the end of a buffer, with one atomic for a
// workgroup's tile. What finds no room is counted, and then the buffer does not count.
var<workgroup> shared_bound: u32;
var<private> limit: u32;

fn wanted(item: vec2<u32>) -> bool {
    return any(item != NO_ITEM) && item.x <= limit;
}

@compute @workgroup_size(WG)
fn append(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let items = item_count();
    if (local == 0u) {
        shared_bound = atomicLoad(&work[BOUND]);
    }
    limit = workgroupUniformLoad(&shared_bound);
    let quads = quads_of(items);
    for (var start = group.x * 4u * WG; start < quads; start += groups.x * 4u * WG) {
        let at = tile_at(start + local);
        gather_tile(load_tile(at, items), at, items, COUNT_FOUND, local);   //: append
    }
}
