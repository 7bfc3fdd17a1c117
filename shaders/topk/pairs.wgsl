// A pair (key, index) is an item; no two are equal, so every order of pairs is the same on every device.
fn before(a: vec2<u32>, b: vec2<u32>) -> bool {
    return a.x < b.x || (a.x == b.x && a.y < b.y);
}

// What stands where there is no item. No item equals it: an index is below 2^32 - 1.
const NO_ITEM: vec2<u32> = vec2<u32>(0xFFFFFFFFu, 0xFFFFFFFFu);
