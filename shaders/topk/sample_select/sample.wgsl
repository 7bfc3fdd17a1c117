//#include <source>
//#include topk/work.wgsl
//#include topk/sorting.wgsl
// Sample select, one level, first pass: 1024 items at equal distances, sorted by one workgroup; every fourth of them
// splits. Items are pairs, so that equal scores are split too, by their indices.
const SPAN: u32 = 1024u;
@group(0) @binding(4) var<storage, read_write> splitters: array<vec2<u32>>;

var<workgroup> shared_count: u32;

@compute @workgroup_size(WG)
fn sample(@builtin(local_invocation_index) local: u32) {
    if (local == 0u) {
        shared_count = source_count() + 0u * atomicLoad(&work[COUNT_PICKED]);
    }
    let all = workgroupUniformLoad(&shared_count);
    for (var i = local; i < SPAN; i += WG) {
        // Without the product i * all, which can wrap.
        sorted[i] = source_at(i * (all / SPAN) + i * (all % SPAN) / SPAN, all);   //: take
    }
    sort_all(local);                                                        //: sort
    for (var i = local; i < 255u; i += WG) {
        splitters[i] = sorted[4u * i + 3u];                                 //: split
    }
}
