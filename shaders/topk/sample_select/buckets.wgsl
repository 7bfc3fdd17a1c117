// 256 buckets between 255 splitters; their counts are the last words of `work`, a row for each level.
@group(0) @binding(4) var<storage, read> splitters: array<vec2<u32>>;
const BUCKETS: u32 = 256u;

fn counts_at() -> u32 {
    return arrayLength(&work) - 2u * BUCKETS + LEVEL * BUCKETS;
}
