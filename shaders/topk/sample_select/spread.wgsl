//#include <source>
//#include topk/work.wgsl
//#include topk/sample_select/buckets.wgsl
// Sample select, one level, second pass: how many items fall into each bucket; eight probes for an item.
var<workgroup> bounds: array<vec2<u32>, BUCKETS>;
var<workgroup> tally: array<atomic<u32>, BUCKETS>;

// How many splitters are not behind the item.
fn bucket_of(item: vec2<u32>) -> u32 {
    var low = 0u;
    for (var step = BUCKETS / 2u; step > 0u; step >>= 1u) {
        if (!before(item, bounds[low + step - 1u])) {                       //: probe
            low += step;
        }
    }
    return low;
}

@compute @workgroup_size(WG)
fn spread(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    atomicStore(&tally[local], 0u);
    if (local < BUCKETS - 1u) {
        bounds[local] = splitters[local];
    }
    workgroupBarrier();
    let all = source_count();
    for (var i = group.x * WG + local; i < all; i += groups.x * WG) {
        let item = source_at(i, all);
        if (any(item != NO_ITEM)) {
            atomicAdd(&tally[bucket_of(item)], 1u);                         //: count
        }
    }
    workgroupBarrier();
    let count = atomicLoad(&tally[local]);
    if (count != 0u) {
        atomicAdd(&work[counts_at() + local], count);                       //: merge
    }
}
