// The entries of 32 buckets lie one bucket behind the other, those of bucket b from first_entry(b) on. The places
// follow from the sizes alone: each bucket has room for its worst case, so it never overflows unless the expansion
// as a whole does.
const BUCKETS: u32 = 32u;
@group(0) @binding(4) var<uniform> bucket_starts: array<vec4<u32>, 9>;

fn first_entry(bucket: u32) -> u32 {
    return bucket_starts[bucket / 4u][bucket % 4u];
}
