// How the counts are cut for reduce-then-scan: ROW counts for a thread, one block for a workgroup.
const ROW: u32 = 8u;
const BLOCK: u32 = WG * ROW;

fn block_count() -> u32 {
    return params.src_count / BLOCK + u32(params.src_count % BLOCK != 0u);
}
