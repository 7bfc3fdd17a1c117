//#include <source>
//#include lib/scan.wgsl
//#include topk/work.wgsl
//#include topk/append.wgsl
//#include topk/sample_select/buckets.wgsl
// Sample select, one level, third pass: the buckets up to that of the k-th item are kept.
@group(0) @binding(5) var<storage, read_write> gathered: array<vec2<u32>>;
const EACH: u32 = 8u;   // items of a thread for one reservation

var<workgroup> shared_limit: vec2<u32>;
var<workgroup> shared_count: u32;
var<workgroup> shared_fits: u32;

@compute @workgroup_size(WG)
fn keep(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    if (local == 0u) {
        shared_limit = NO_ITEM;
        shared_count = source_count();
        shared_fits = 1u;
        if (LEVEL == 1u && atomicLoad(&work[COUNT_PICKED]) > params.kept_room) {
            shared_fits = 0u;
        }
    }
    let count = atomicLoad(&work[counts_at() + local]);
    let upto = workgroup_scan(local, count);                                //: scan
    let need = min(params.k, workgroup_total());
    if (upto >= need && upto - count < need && local < BUCKETS - 1u) {
        shared_limit = splitters[local];                                    //: choose
    }
    let limit = workgroupUniformLoad(&shared_limit);
    let all = workgroupUniformLoad(&shared_count);
    if (workgroupUniformLoad(&shared_fits) == 0u) {
        // The level before did not fit, so neither do we: whoever reads on starts from the scores.
        if (group.x == 0u && local == 0u) {
            atomicStore(&work[COUNT_FOUND], 0xFFFFFFFFu);
        }
        return;
    }
    for (var start = group.x * EACH * WG; start < all; start += groups.x * EACH * WG) {
        var mine = 0u;
        for (var i = 0u; i < EACH; i++) {
            mine += u32(before(source_at(start + i * WG + local, all), limit));
        }
        var place = reserve(select(COUNT_FOUND, COUNT_PICKED, LEVEL == 0u), local, mine);
        for (var i = 0u; i < EACH && mine != 0u; i++) {
            let item = source_at(start + i * WG + local, all);
            if (before(item, limit)) {
                if (place < arrayLength(&gathered)) {
                    gathered[place] = item;                                 //: keep
                }
                place += 1u;
            }
        }
    }
}
