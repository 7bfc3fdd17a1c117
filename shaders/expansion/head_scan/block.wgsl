// How the heads are cut for reduce-then-scan: ROW heads for a thread, one block for a workgroup.
const ROW: u32 = 8u;
const BLOCK: u32 = WG * ROW;

fn block_count(total: u32) -> u32 {
    return total / BLOCK + u32(total % BLOCK != 0u);
}
