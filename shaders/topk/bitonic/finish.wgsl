//#include topk/pairs.wgsl
//#include topk/sorting.wgsl
// Bitonic top-k: the last ten steps of a merge, on blocks of 1024 in workgroup memory.
@group(0) @binding(5) var<storage, read_write> pairs: array<vec2<u32>>;
const SPAN: u32 = 1024u;

@compute @workgroup_size(WG)
fn finish(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    for (var first = group.x * SPAN; first < arrayLength(&pairs) / SPAN * SPAN; first += groups.x * SPAN) {
        for (var i = local; i < SPAN; i += WG) {
            sorted[i] = pairs[first + i];
        }
        workgroupBarrier();
        merge_from(SPAN / 2u, local);                                       //: merge
        for (var i = local; i < SPAN; i += WG) {
            pairs[first + i] = sorted[i];
        }
        workgroupBarrier();
    }
}
