//#include <source>
//#include topk/pair_sort/blocks.wgsl
// Radix sort by four bits, first of three passes: how often each digit occurs in each block.
@group(0) @binding(4) var<storage, read_write> counts: array<u32>;   // [digit][block]

var<workgroup> tally: array<atomic<u32>, DIGITS>;

@compute @workgroup_size(WG)
fn count(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (local < DIGITS) {
        atomicStore(&tally[local], 0u);
    }
    workgroupBarrier();
    let all = sort_count();
    let length = block_length(all);
    let first = group.x * length;
    let end = min(first + length, all);
    for (var i = first + local; i < end; i += WG) {
        atomicAdd(&tally[digit_of(take(i))], 1u);                           //: count
    }
    workgroupBarrier();
    if (local < DIGITS) {
        counts[local * block_count() + group.x] = atomicLoad(&tally[local]);
    }
}
