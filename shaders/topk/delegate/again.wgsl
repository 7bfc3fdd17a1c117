//#include topk/values.wgsl
//#include topk/work.wgsl
//#include topk/gather.wgsl
// Delegates, third pass: the items of the picked pieces that reach the bound.
@group(0) @binding(4) var<storage, read> picked: array<u32>;

var<workgroup> shared_picked: u32;
var<workgroup> shared_bound: vec2<u32>;
var<private> limit: vec2<u32>;

fn wanted(item: vec2<u32>) -> bool {
    return any(item != NO_ITEM) && !before(limit, item);
}

// The quad at a place of all picked pieces laid end to end; behind the last one, a quad behind all scores.
fn quad_at(place: u32, length: u32, places: u32, quads: u32) -> u32 {
    if (place >= places) {
        return quads;
    }
    return picked[place / length] + place % length * arrayLength(&picked);
}

@compute @workgroup_size(WG)
fn again(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let items = item_count();
    let quads = quads_of(items);
    // Quads of a piece. There are as many pieces as `picked` has room for.
    let length = quads / arrayLength(&picked) + u32(quads % arrayLength(&picked) != 0u);
    if (local == 0u) {
        shared_picked = atomicLoad(&work[COUNT_PICKED]);
        shared_bound = vec2<u32>(atomicLoad(&work[BOUND]), atomicLoad(&work[BOUND + 1u]));
    }
    let places = workgroupUniformLoad(&shared_picked) * length;
    limit = workgroupUniformLoad(&shared_bound);
    for (var start = group.x * 4u * WG; start < places; start += groups.x * 4u * WG) {
        let at = start + local;
        let where_at = array<u32, 4>(
            quad_at(at, length, places, quads), quad_at(at + WG, length, places, quads),
            quad_at(at + 2u * WG, length, places, quads), quad_at(at + 3u * WG, length, places, quads)
        );
        gather_tile(load_tile(where_at, items), where_at, items, COUNT_FOUND, local);   //: gather
    }
}
