//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/scan.wgsl
//#include expansion/workgroup_scan/block.wgsl
// Block-mapped expansion, pass 1: a workgroup reserves the range of its WG src.
// (1) Take N. (2) Add up the workgroup. (3) Reserve its range with one global atomic. (4) Call a helper, a further
// workgroup of pass 2, for every PART items of the block; what is left over the block's own workgroup takes itself.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> base: array<u32>;
@group(0) @binding(3) var<storage, read_write> helpers: array<vec2<u32>>;   // (block, its first item)
@group(0) @binding(4) var<storage, read_write> helpers_used: atomic<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

var<workgroup> first_helper: u32;

@compute @workgroup_size(WG)
fn reserve(inv: Invocation) {
    let block = group_index(inv);
    let src = thread_index(inv);
    var n = 0u;
    if (src < params.src_count) {
        n = counts[src];                                                    //: load
    }
    let upto = workgroup_scan(inv.local, n);                                //: scan
    // The sums before a wrap are exact, so the wrap makes one smaller.
    if (upto < n) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    let total = workgroup_total();
    if (inv.local == 0u && block < block_count()) {
        let first = atomicAdd(&state.total, total);                         //: reserve
        if (first + total < first) {
            atomicOr(&state.failure, FAILED_OVERFLOW);
        }
        base[block] = first;
    }
    if (inv.local == 0u) {
        first_helper = 0u;
        if (total >= PART) {
            first_helper = atomicAdd(&helpers_used, total / PART);          //: call
        }
    }
    workgroupBarrier();
    // Counting goes on when there is no room; writing does not.
    let room = arrayLength(&helpers) - min(first_helper, arrayLength(&helpers));
    for (var i = inv.local; i < min(total / PART, room); i += WG) {
        helpers[first_helper + i] = vec2<u32>(block, i * PART);             //: write
    }
}
