//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
//#include lib/scan.wgsl
//#include expansion/tile_search/block.wgsl
//#include expansion/tile_search/tile.wgsl
//#include <keep>
// Load-balancing search, place: what a prefix sum, its set-up and a search for every tile do, in one pass.
// (1) Each block adds up the sums of the blocks before it; the last one so knows P2. (2) It scans its own counts and
// keeps the end of every src's range of items, as `<keep>` says. (3) A src that owns the first item of a tile writes
// itself down as `tile_src`. One with more than ALONE tiles hands them to the whole workgroup.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> sums: array<u32>;
@group(0) @binding(4) var<storage, read_write> tile_src: array<u32>;
@group(0) @binding(5) var<storage, read> wraps: array<u32>;

// Sums of low and of high halves: at most 2048 blocks, so neither can wrap where the whole would.
var<workgroup> halves: array<vec2<u32>, WG>;
var<workgroup> giants: array<vec3<u32>, WG>;    // owner, its first tile, the tile after its last
var<workgroup> giant_count: atomic<u32>;
var<workgroup> crowded: u32;                    // whether there were more giants than places for them
var<workgroup> any_wrapped: atomic<u32>;

fn tiles_below(item: u32) -> u32 {
    return min(tile_count(item), arrayLength(&tile_src));
}

// Low and high half of the sum of all blocks before `block`, by the whole workgroup.
fn sum_before(local: u32, block: u32) -> vec2<u32> {
    var sum = vec2<u32>(0u);
    for (var other = local; other < min(block, block_count()); other += WG) {
        let value = sums[other];                                            //: before
        sum += vec2<u32>(value & 0xFFFFu, value >> 16u);
        if (wraps[other] != 0u) {
            atomicStore(&any_wrapped, 1u);
        }
    }
    halves[local] = sum;
    workgroupBarrier();
    for (var step = WG / 2u; step > 0u; step >>= 1u) {
        if (local < step) {
            halves[local] += halves[local + step];
        }
        workgroupBarrier();
    }
    return halves[0];
}

// Write down the owner of every tile whose first item lies in its range, or leave that to the workgroup: the loop of
// one thread has to stay short, because some drivers end long ones.
fn own_tiles(owner: u32, begin_of_range: u32, end_of_range: u32) {
    let from_tile = tiles_below(begin_of_range);
    let to_tile = tiles_below(end_of_range);
    if (from_tile >= to_tile) {
        return;
    }
    if (to_tile - from_tile > ALONE) {
        let slot = atomicAdd(&giant_count, 1u);
        if (slot < WG) {
            giants[slot] = vec3<u32>(owner, from_tile, to_tile);            //: giant
        }
        return;
    }
    for (var tile = from_tile; tile < to_tile; tile++) {
        tile_src[tile] = owner;                                             //: tile
    }
}

// Write down the owners of the tiles of the first `listed` giants, by the whole workgroup.
fn share(local: u32, listed: u32) {
    for (var i = 0u; i < listed; i++) {
        let giant = giants[i];
        for (var tile = giant.y + local; tile < giant.z; tile += WG) {
            tile_src[tile] = giant.x;                                       //: share
        }
    }
}

// The list was too short: once more, one src of every thread at a time, which always fit.
fn share_in_turns(local: u32, first: u32, rows: u32, begin_of_rows: u32) {
    var end = begin_of_rows;
    rewind_kept();
    for (var i = 0u; i < ROW; i++) {
        var giant = vec3<u32>(0u);
        if (i < rows) {
            let begin_of_range = end;
            end += counts[first + i];
            giant = vec3<u32>(keep(first + i, begin_of_range, end), tiles_below(begin_of_range), tiles_below(end));
        }
        workgroupBarrier();
        giants[local] = giant;
        workgroupBarrier();
        share(local, WG);
    }
}

@compute @workgroup_size(WG)
fn place(inv: Invocation) {
    if (inv.local == 0u) {
        atomicStore(&giant_count, 0u);
        atomicStore(&any_wrapped, 0u);
    }
    clear_kept(inv.local);
    workgroupBarrier();
    let block = group_index(inv);
    let blocks = block_count();
    let first = block * BLOCK + inv.local * ROW;
    // Rows lie inside or outside as a whole but for the last one.
    var rows = 0u;
    if (block < blocks && first < params.src_count) {
        rows = min(ROW, params.src_count - first);
    }
    var sum = 0u;
    if (rows == ROW) {
        for (var i = 0u; i < ROW; i++) {
            let n = counts[first + i];                                      //: load
            sum += n;
            note(n);
        }
    } else {
        for (var i = 0u; i < rows; i++) {
            let n = counts[first + i];
            sum += n;
            note(n);
        }
    }
    let before = sum_before(inv.local, block);
    let upto = workgroup_scan(inv.local, sum);                              //: scan
    if (inv.local == WG - 1u && block + 1u == max(1u, blocks)) {
        let low = before.x + (upto & 0xFFFFu);
        let high = before.y + (upto >> 16u) + (low >> 16u);
        let total = (high << 16u) | (low & 0xFFFFu);
        var failed = select(0u, FAILED_OVERFLOW, high > 0xFFFFu || atomicLoad(&any_wrapped) != 0u);
        if (block < blocks && wraps[block] != 0u) {
            failed = FAILED_OVERFLOW;
        }
        if (PREPARED == 0u) {
            // Nobody has written the state yet; what the last run left there is none of ours.
            atomicStore(&state.failure, 0u);
            atomicStore(&state.max_n, 0u);
        }
        launch(tile_count(settle(total, failed)) * TILE_THREADS);           //: launch
    }
    begin_kept(inv.local, block);
    let begin_of_rows = before.x + (before.y << 16u) + upto - sum;
    var end = begin_of_rows;
    for (var four = 0u; four < rows; four += 4u) {
        var upto_each = vec4<u32>(end);
        for (var i = 0u; i < 4u; i++) {
            if (four + i < rows) {
                let src = first + four + i;
                let begin_of_range = end;
                end += counts[src];
                own_tiles(keep(src, begin_of_range, end), begin_of_range, end);
            }
            upto_each[i] = end;
        }
        keep_four((first + four) / 4u, upto_each);
    }
    workgroupBarrier();
    let listed = atomicLoad(&giant_count);
    share(inv.local, min(listed, WG));
    if (inv.local == 0u) {
        crowded = u32(listed > WG);
    }
    if (workgroupUniformLoad(&crowded) != 0u) {
        share_in_turns(inv.local, first, rows, begin_of_rows);
    }
}
