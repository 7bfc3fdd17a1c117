//#include topk/step.wgsl
// How items are cut for one pass of the sort: one for a workgroup, each of whole tiles.
const EACH: u32 = 8u;              // items of a thread in a tile, one after the other
const TILE: u32 = EACH * WG;
const DIGITS: u32 = 16u;

fn block_count() -> u32 {
    return arrayLength(&counts) / DIGITS;
}

fn block_length(count: u32) -> u32 {
    let blocks = block_count();
    let tiles = count / TILE + u32(count % TILE != 0u);
    return (tiles / blocks + u32(tiles % blocks != 0u)) * TILE;
}
