//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include search/loadouts/pick.wgsl
// N of every partial loadout: how many whole ones it spawns. None where two of its items would have to be of one set.
@group(0) @binding(0) var<storage, read> pool: array<u32>;
@group(0) @binding(1) var<storage, read> lists: array<u32>;
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WG)
fn spawn(inv: Invocation) {
    let thread = thread_index(inv);
    if (thread >= MAX_SRC) {
        return;
    }
    let number = pool[2u * DEVICE] + thread;
    var count = 0u;
    if (number < min(pool[2u * DEVICE + 1u], partials())) {
        var pick: array<u32, SLOTS>;
        lead(number, &pick);
        count = 1u;
        for (var slot = 0u; slot < LEADING; slot++) {
            let other = match_of(slot);
            if (other != NONE && set_of(slot, pick[slot]) != set_of(other, pick[other])) {
                count = 0u;                                                 //: mismatch
            }
        }
        for (var slot = LEADING; slot < SLOTS; slot++) {
            count *= choices(slot, &pick).y;                                //: spawn
        }
    }
    counts[thread] = count;
}
