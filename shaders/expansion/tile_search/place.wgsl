//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
//#include lib/scan.wgsl
//#include expansion/tile_search/block.wgsl
//#include expansion/tile_search/tile.wgsl
// Load-balancing search, place: what a prefix sum, its set-up and a search for every tile do, in one pass.
// (1) Each block adds up the sums of the blocks before it; the last one so knows P2. (2) It scans its own counts and
// stores `ends[src]`, the end of the src's range of items. (3) A src that owns the first item of a tile writes itself
// down as `tile_src`. One with very many tiles hands them to the whole workgroup.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> sums: array<u32>;
@group(0) @binding(3) var<storage, read_write> ends: array<vec4<u32>>;   // padded to whole fours
@group(0) @binding(4) var<storage, read_write> tile_src: array<u32>;
@group(0) @binding(5) var<storage, read> wraps: array<u32>;

// A thread writes this many tiles in about the time that the workgroup takes to share a src out.
const ALONE: u32 = 32u;

// Sums of low and of high halves: at most 2048 blocks, so neither can wrap where the whole would.
var<workgroup> halves: array<vec2<u32>, WG>;
var<workgroup> giants: array<vec3<u32>, WG>;    // src, its first tile, the tile after its last
var<workgroup> giant_count: atomic<u32>;
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

// Write down the src as the owner of every tile whose first item lies in its range, or leave that to the workgroup.
fn own_tiles(src: u32, begin_of_range: u32, end_of_range: u32) {
    let from_tile = tiles_below(begin_of_range);
    let to_tile = tiles_below(end_of_range);
    if (from_tile >= to_tile) {
        return;
    }
    var slot = WG;
    if (to_tile - from_tile > ALONE) {
        slot = atomicAdd(&giant_count, 1u);
    }
    if (slot < WG) {
        giants[slot] = vec3<u32>(src, from_tile, to_tile);                  //: giant
        return;
    }
    for (var tile = from_tile; tile < to_tile; tile++) {
        tile_src[tile] = src;                                               //: tile
    }
}

@compute @workgroup_size(WG)
fn place(inv: Invocation) {
    if (inv.local == 0u) {
        atomicStore(&giant_count, 0u);
        atomicStore(&any_wrapped, 0u);
    }
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
            sum += counts[first + i];                                       //: load
        }
    } else {
        for (var i = 0u; i < rows; i++) {
            sum += counts[first + i];
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
        launch(tile_count(settle(total, failed)) * WG);                     //: launch
    }
    var end = before.x + (before.y << 16u) + upto - sum;
    for (var four = 0u; four < rows; four += 4u) {
        var upto_each = vec4<u32>(end);
        for (var i = 0u; i < 4u; i++) {
            if (four + i < rows) {
                let src = first + four + i;
                let begin_of_range = end;
                end += counts[src];
                own_tiles(src, begin_of_range, end);
            }
            upto_each[i] = end;
        }
        ends[(first + four) / 4u] = upto_each;                              //: store
    }
    workgroupBarrier();
    let listed = min(atomicLoad(&giant_count), WG);
    for (var i = 0u; i < listed; i++) {
        let giant = giants[i];
        for (var tile = giant.y + inv.local; tile < giant.z; tile += WG) {
            tile_src[tile] = giant.x;                                       //: share
        }
    }
}
