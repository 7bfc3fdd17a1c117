// How the counts are cut: ROW counts for a thread, one block for a workgroup. ROW grows with the number of src, so that
// there are at most 2048 blocks and each can add up all those before it.
const BLOCK: u32 = WG * ROW;

fn block_count() -> u32 {
    return params.src_count / BLOCK + u32(params.src_count % BLOCK != 0u);
}
