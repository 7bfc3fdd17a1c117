//#include expansion/po2/ranges.wgsl
@group(0) @binding(3) var<storage, read> ranges: array<u32, RANGES>;

// The last bucket that begins at or before the thread; five probes, the same ones for a whole subgroup.
fn bucket_of(thread: u32) -> u32 {
    var bucket = 0u;
    for (var step = 16u; step != 0u; step >>= 1u) {
        if (ranges[THREADS + bucket + step] <= thread) {                    //: bucket
            bucket += step;
        }
    }
    return bucket;
}
