// Bucket b holds entries that stand for 2^b items each. Its entries lie from first_entry(b) on, and the place of
// every bucket follows from the sizes alone: no bucket can hold more than max_src entries, nor more than
// max_dst / 2^b of them, so a bucket never overflows unless the expansion as a whole does.
const BUCKETS: u32 = 32u;
@group(0) @binding(4) var<uniform> bucket_starts: array<vec4<u32>, 9>;

fn first_entry(bucket: u32) -> u32 {
    return bucket_starts[bucket / 4u][bucket % 4u];
}
