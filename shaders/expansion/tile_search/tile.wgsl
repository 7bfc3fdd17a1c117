// How the output is cut: TILE items each. Whoever includes this is given TILE.
fn tile_count(total: u32) -> u32 {
    return total / TILE + u32(total % TILE != 0u);
}
