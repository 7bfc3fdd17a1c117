//#include topk/item.wgsl
// The items to sort are the scores, in order of their indices. Those at or behind the bound are sorted too: they come
// after all that count.
fn sort_count() -> u32 {
    return item_count();
}

fn take(place: u32) -> vec2<u32> {
    return vec2<u32>(key_of(bits_of(values[place / PER_WORD], place % PER_WORD)), place);
}
