// Scores are read four words at a time: a quad.
fn quads_of(items: u32) -> u32 {
    let each = 4u * PER_WORD;
    return items / each + u32(items % each != 0u);
}
