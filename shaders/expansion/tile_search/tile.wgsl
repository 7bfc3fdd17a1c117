// How the output is cut: ITEMS items for a thread, one tile for a workgroup.
const ITEMS: u32 = 16u;
const TILE: u32 = WG * ITEMS;

fn tile_count(total: u32) -> u32 {
    return total / TILE + u32(total % TILE != 0u);
}
