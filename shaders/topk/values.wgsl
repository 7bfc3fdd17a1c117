//#include lib/keys.wgsl
//#include topk/params.wgsl
//#include topk/quads.wgsl
// The scores, bound twice: sixteen bytes at a time, and by words for the tail of a buffer that is not a multiple of 16.
@group(0) @binding(1) var<storage, read> values: array<u32>;
@group(0) @binding(2) var<storage, read> values4: array<vec4<u32>>;

fn item_count() -> u32 {
    return min(min(params.n, params.most), arrayLength(&values) * PER_WORD);
}

// Four words of scores; words without a score are 0 and their items beyond the end.
fn load_quad(quad: u32, items: u32) -> vec4<u32> {
    let words = items / PER_WORD + items % PER_WORD;
    let first = 4u * quad;
    if (first + 4u <= words) {
        return values4[quad];
    }
    var some = vec4<u32>(0u);
    if (first < words) {
        some.x = values[first];
    }
    if (first + 1u < words) {
        some.y = values[first + 1u];
    }
    if (first + 2u < words) {
        some.z = values[first + 2u];
    }
    return some;
}

// The item of a word: its key and its index, or NO_ITEM where it does not count.
fn item_of(word: u32, at: u32, part: u32, items: u32) -> vec2<u32> {
    let item = vec2<u32>(key_of(bits_of(word, part)), at * PER_WORD + part);
    return select(NO_ITEM, item, item.y < items && admits(item));
}
