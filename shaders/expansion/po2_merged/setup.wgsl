//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
// Power-of-two buckets, set-up: where every bucket's threads and items begin. A bucket's threads are rounded up to
// `align`, so that no subgroup straddles two buckets.
const BUCKETS: u32 = 32u;
@group(0) @binding(2) var<storage, read> filled: array<u32, BUCKETS>;
// First thread of each bucket and the end of all, then the first item of each bucket and the end of all.
@group(0) @binding(3) var<storage, read_write> ranges: array<u32, 66>;

@compute @workgroup_size(1)
fn setup() {
    var thread = 0u;
    var item = 0u;
    var failed = 0u;
    for (var bucket = 0u; bucket < BUCKETS; bucket++) {
        ranges[bucket] = thread;
        ranges[33u + bucket] = item;
        let items = filled[bucket] << bucket;
        if (filled[bucket] > 0xFFFFFFFFu >> bucket || item + items < item) {
            failed = FAILED_OVERFLOW;
        }
        item += items;
        let rounded = items + (params.align - items % params.align) % params.align;
        if (rounded < items || thread + rounded < thread) {
            failed |= FAILED_THREADS;
        }
        thread += rounded;                                                  //: round
    }
    ranges[32] = thread;
    ranges[65] = item;
    let total = settle(item, failed);
    launch(select(thread, 0u, total == 0u));                                //: launch
}
