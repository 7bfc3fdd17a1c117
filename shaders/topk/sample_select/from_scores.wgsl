//#include topk/item.wgsl
fn source_count() -> u32 {
    return item_count();
}

fn source_at(place: u32, all: u32) -> vec2<u32> {
    return item_at(place, all);
}
