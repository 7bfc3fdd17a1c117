//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/scan.wgsl
//#include expansion/scan/block.wgsl
//#include expansion/lookback_search/spine.wgsl
// Prefix sum in a single pass over the counts (decoupled look-back, Merrill and Garland 2016).
// (1) Draw a ticket: it says which block is the workgroup's, so all lower ones have begun, and nobody waits for a
// workgroup that has not. (2) Scan the block and publish its sum. (3) Look back, WG blocks at a time, and add what is
// there until a block knows the sum up to its end. (4) Where a block has not published and SPINS looks did not help,
// add up its counts here (decoupled fallback, Smith, Levien and Owens 2024): it may have been put off for as long as
// this workgroup runs. (5) Publish the sum up to the own end, and store.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> ends: array<u32>;
@group(0) @binding(3) var<storage, read_write> spine: Spine;
@group(0) @binding(6) var<storage, read_write> state: State;

// What one look has brought.
const WAIT: u32 = 0u;    // the next block has not published
const MORE: u32 = 1u;    // some blocks were added, more lie behind them
const DONE: u32 = 2u;
struct Look {
    outcome: u32,
    blocks: u32,
    sum: u32,
}
var<workgroup> drawn: u32;
var<workgroup> nearest_inclusive: atomic<u32>;
var<workgroup> nearest_missing: atomic<u32>;
var<workgroup> window_sum: atomic<u32>;
var<workgroup> looked: Look;

fn publish(block: u32, flag: u32, value: u32) {
    atomicMax(&spine.words[2u * block], flag | (value & VALUE));
    atomicMax(&spine.words[2u * block + 1u], flag | (value >> 16u));
}

// Thread i looks at the i-th of the `behind` blocks before, counted backwards. The whole workgroup calls this.
fn look_back(local: u32, behind: u32) -> Look {
    if (local == 0u) {
        atomicStore(&nearest_inclusive, WG);
        atomicStore(&nearest_missing, min(WG, behind));
        atomicStore(&window_sum, 0u);
    }
    workgroupBarrier();
    var value = 0u;
    if (local < behind) {
        let block = behind - 1u - local;
        let low = atomicLoad(&spine.words[2u * block]);                     //: look
        let high = atomicLoad(&spine.words[2u * block + 1u]);
        value = (low & VALUE) | (high << 16u);
        if (low < AGGREGATE || (low ^ high) > VALUE) {
            atomicMin(&nearest_missing, local);
        } else if (low >= INCLUSIVE) {
            atomicMin(&nearest_inclusive, local);
        }
    }
    workgroupBarrier();
    let missing = atomicLoad(&nearest_missing);
    let inclusive = atomicLoad(&nearest_inclusive);
    if (local < missing && local <= inclusive) {
        atomicAdd(&window_sum, value);                                      //: add
    }
    workgroupBarrier();
    if (local == 0u) {
        let found = inclusive < missing;
        let outcome = select(select(WAIT, MORE, missing > 0u), DONE, found || missing == behind);
        looked = Look(outcome, missing, atomicLoad(&window_sum));
    }
    return workgroupUniformLoad(&looked);
}

// The sum of a block's counts, by the whole workgroup.
fn reduce(local: u32, block: u32) -> u32 {
    var sum = 0u;
    for (var i = 0u; i < ROW; i++) {
        let src = block * BLOCK + i * WG + local;
        if (src < params.src_count) {
            sum += counts[src];                                             //: fallback
        }
    }
    workgroup_scan(local, sum);
    return workgroup_total();
}

@compute @workgroup_size(WG)
fn lookback(inv: Invocation) {
    if (inv.local == 0u) {
        drawn = atomicAdd(&spine.ticket, 1u);                               //: ticket
    }
    let block = workgroupUniformLoad(&drawn);
    if (block >= block_count()) {
        return;
    }
    let first = block * BLOCK + inv.local * ROW;
    var row: array<u32, ROW>;
    var sum = 0u;
    var wrapped = false;
    for (var i = 0u; i < ROW; i++) {
        if (first + i < params.src_count) {
            let n = counts[first + i];                                      //: load
            // The sum before a wrap is exact, so the wrap makes it smaller.
            wrapped = wrapped || sum + n < sum;
            sum += n;
        }
        row[i] = sum;
    }
    let upto = workgroup_scan(inv.local, sum);                              //: scan
    let total = workgroup_total();
    wrapped = wrapped || upto < sum;
    if (inv.local == 0u) {
        publish(block, AGGREGATE, total);                                   //: publish
    }

    var before = 0u;
    var behind = block;
    var spins = 0u;
    while (behind > 0u) {
        let look = look_back(inv.local, behind);
        before += look.sum;
        behind -= look.blocks;
        if (look.outcome == DONE) {
            break;
        }
        if (look.outcome == WAIT) {
            spins += 1u;
            if (spins > SPINS) {
                let theirs = reduce(inv.local, behind - 1u);
                if (inv.local == 0u) {
                    publish(behind - 1u, AGGREGATE, theirs);
                }
                before += theirs;
                behind -= 1u;
            }
        }
    }

    wrapped = wrapped || before + upto < before;
    if (wrapped) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    if (inv.local == 0u) {
        publish(block, INCLUSIVE, before + total);                          //: publish-inclusive
        if (block == block_count() - 1u) {
            atomicStore(&state.total, before + total);
        }
    }
    let offset = before + upto - sum;
    for (var i = 0u; i < ROW; i++) {
        if (first + i < params.src_count) {
            ends[first + i] = offset + row[i];                              //: store
        }
    }
}
