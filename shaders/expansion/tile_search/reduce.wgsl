//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/scan.wgsl
//#include expansion/tile_search/block.wgsl
//#include <tally>
// Load-balancing search, reduce: the sum of each block.
// A sum that passes 2^32 is caught where it wraps: the value before it was exact, so the wrap makes it smaller.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<u32>;
@group(0) @binding(3) var<storage, read_write> wraps: array<u32>;   // whether the block's sum is 2^32 or more

var<workgroup> any_wrapped: atomic<u32>;

@compute @workgroup_size(WG)
fn reduce(inv: Invocation) {
    if (inv.local == 0u) {
        atomicStore(&any_wrapped, 0u);
    }
    begin_tally(inv.local);
    let block = group_index(inv);
    let inside = block < block_count();
    var sum = 0u;
    var wrapped = false;
    // Neighbouring threads read neighbouring counts. In a full block no load waits for a test of its place.
    let first = block * BLOCK + inv.local;
    if (inside && params.src_count - block * BLOCK >= BLOCK) {
        for (var i = 0u; i < ROW; i++) {
            let n = counts[first + i * WG];                                 //: load
            wrapped = wrapped || sum + n < sum;
            sum += n;
            tally(n);
        }
    } else if (inside) {
        for (var src = first; src < params.src_count; src += WG) {
            let n = counts[src];
            wrapped = wrapped || sum + n < sum;
            sum += n;
            tally(n);
        }
    }
    let upto = workgroup_scan(inv.local, sum);                              //: reduce
    wrapped = wrapped || upto < sum;
    if (wrapped) {
        atomicStore(&any_wrapped, 1u);
    }
    share_tally();
    workgroupBarrier();
    if (inside && inv.local == WG - 1u) {
        sums[block] = upto;                                                 //: store
        wraps[block] = atomicLoad(&any_wrapped);
        store_tally(block);
    }
}
