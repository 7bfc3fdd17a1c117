// Linear indices under a folded dispatch. The width of the fold is read from the dispatch itself, so that whoever
// wrote the arguments (host or a set-up stage) cannot disagree with whoever reads them.
const NO_THREAD: u32 = 0xFFFFFFFFu;

fn group_index(inv: Invocation) -> u32 {
    return inv.group.y * inv.groups.x + inv.group.x;
}

// NO_THREAD where the index does not fit 32 bits: the groups that a fold adds can lie beyond the last valid thread,
// and a wrapped index would do some thread's work twice.
fn thread_index(inv: Invocation) -> u32 {
    let group = group_index(inv);
    if (group > (NO_THREAD - inv.local) / WG) {
        return NO_THREAD;
    }
    return group * WG + inv.local;
}
