//#include topk/item.wgsl
//#include topk/sorting.wgsl
// Bitonic top-k, first pass: blocks of 1024 scores, sorted. Behind the last score stands NO_ITEM.
@group(0) @binding(5) var<storage, read_write> pairs: array<vec2<u32>>;
const SPAN: u32 = 1024u;

@compute @workgroup_size(WG)
fn sort(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let items = item_count();
    for (var first = group.x * SPAN; first < arrayLength(&pairs) / SPAN * SPAN; first += groups.x * SPAN) {
        for (var i = local; i < SPAN; i += WG) {
            sorted[i] = item_at(first + i, items);                          //: load
        }
        sort_all(local);                                                    //: sort
        for (var i = local; i < SPAN; i += WG) {
            pairs[first + i] = sorted[i];                                   //: store
        }
        workgroupBarrier();
    }
}
