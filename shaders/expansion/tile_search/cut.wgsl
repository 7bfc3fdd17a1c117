//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/fold.wgsl
//#include lib/settled.wgsl
//#include expansion/tile_search/tile.wgsl
// Load-balancing search, cut: one search for each tile of the output. `tile_src[t]` is the src that owns the first
// item of tile t; one more at the end owns the last item of all.
@group(0) @binding(1) var<storage, read> ends: array<u32>;
@group(0) @binding(2) var<storage, read> state: Settled;
@group(0) @binding(3) var<storage, read_write> tile_src: array<u32>;
@group(0) @binding(4) var<storage, read_write> launches: array<u32, 3>;

@compute @workgroup_size(WG)
fn cut(inv: Invocation) {
    let tile = thread_index(inv);
    let tiles = tile_count(state.total);
    if (tile == 0u) {
        let groups = fold(tiles);
        launches[0] = groups.x;                                             //: launch
        launches[1] = groups.y;
        launches[2] = groups.z;
    }
    if (tile > tiles || tiles == 0u) {
        return;
    }
    // tile * TILE may not fit 32 bits behind the last tile.
    var item = state.total - 1u;
    if (tile < tiles) {
        item = tile * TILE;
    }
    var low = 0u;
    var high = params.src_count;
    while (low < high) {
        let middle = low + (high - low) / 2u;                               //: probe
        if (ends[middle] <= item) {
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    tile_src[tile] = low;                                                   //: store
}
