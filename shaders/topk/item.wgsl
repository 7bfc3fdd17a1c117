//#include lib/keys.wgsl
//#include topk/params.wgsl
// The scores one at a time.
@group(0) @binding(1) var<storage, read> values: array<u32>;

fn item_count() -> u32 {
    return min(min(params.n, params.most), arrayLength(&values) * PER_WORD);
}

// The item at a place, or NO_ITEM where it does not count.
fn item_at(place: u32, items: u32) -> vec2<u32> {
    if (place >= items) {
        return NO_ITEM;
    }
    let item = vec2<u32>(key_of(bits_of(values[place / PER_WORD], place % PER_WORD)), place);
    return select(NO_ITEM, item, admits(item));
}
