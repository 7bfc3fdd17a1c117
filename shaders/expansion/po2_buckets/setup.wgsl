//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// Power-of-two buckets with a dispatch for each, set-up: 32 sets of arguments, most of them empty. The shared
// `indirect` buffer says how many threads there are in all, for whoever runs the items later.
const BUCKETS: u32 = 32u;
@group(0) @binding(2) var<storage, read> filled: array<u32, BUCKETS>;
@group(0) @binding(3) var<storage, read_write> firsts: array<u32, BUCKETS>;
@group(0) @binding(5) var<storage, read_write> launches: array<u32, 96>;

@compute @workgroup_size(1)
fn setup() {
    var item = 0u;
    var failed = 0u;
    for (var bucket = 0u; bucket < BUCKETS; bucket++) {
        let items = filled[bucket] << bucket;
        firsts[bucket] = item;
        if (filled[bucket] > 0xFFFFFFFFu >> bucket || item + items < item) {
            failed = FAILED_OVERFLOW;
        }
        item += items;
    }
    let total = settle(item, failed);
    for (var bucket = 0u; bucket < BUCKETS; bucket++) {
        let groups = fold_threads(select(filled[bucket] << bucket, 0u, total == 0u), WG);
        launches[3u * bucket] = groups.x;                                   //: launch
        launches[3u * bucket + 1u] = groups.y;
        launches[3u * bucket + 2u] = groups.z;
    }
    launch(total);
}
