//#include expansion/po2/ranges.wgsl
@group(0) @binding(3) var<storage, read_write> ranges: array<u32, RANGES>;

// Lays the buckets out one behind the other, the threads of each rounded up to `align`, so that no subgroup
// straddles two buckets. Give the buckets in order, then call finish.
struct Layout {
    thread: u32,
    item: u32,
    failed: u32,
}

fn add_bucket(so_far: Layout, bucket: u32, items: u32) -> Layout {
    var laid = so_far;
    ranges[THREADS + bucket] = laid.thread;
    ranges[ITEMS + bucket] = laid.item;
    if (laid.item + items < laid.item) {
        laid.failed |= FAILED_OVERFLOW;
    }
    laid.item += items;
    let rounded = items + (params.align - items % params.align) % params.align;
    if (rounded < items || laid.thread + rounded < laid.thread) {
        laid.failed |= FAILED_THREADS;
    }
    laid.thread += rounded;                                                 //: round
    return laid;
}

fn finish(laid: Layout) {
    ranges[THREADS + 32u] = laid.thread;
    ranges[ITEMS + 32u] = laid.item;
    let total = settle(laid.item, laid.failed);
    launch(select(laid.thread, 0u, total == 0u));                           //: launch
}
