//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
//#include expansion/scan/block.wgsl
//#include expansion/size_classes/classes.wgsl
//#include expansion/size_classes/scan.wgsl
// Size classes, first of three passes: the items, small src, medium src and pieces of each block of src.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(6) var<storage, read_write> state: State;

@compute @workgroup_size(WG)
fn tally(inv: Invocation) {
    let block = group_index(inv);
    let inside = block < block_count();
    var sum = vec4<u32>(0u);
    var wrapped = false;
    if (inside) {
        // Neighbouring threads read neighbouring counts.
        for (var i = 0u; i < ROW; i++) {
            let src = block * BLOCK + i * WG + inv.local;
            if (src < params.src_count) {
                let n = counts[src];                                        //: load
                // The sum before a wrap is exact, so the wrap makes it smaller.
                wrapped = wrapped || sum.x + n < sum.x;
                sum += tally_of(n);                                         //: classify
            }
        }
    }
    let upto = workgroup_scan(inv.local, sum);                              //: reduce
    if (wrapped || upto.x < sum.x) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    if (inside && inv.local == WG - 1u) {
        sums[block] = upto;                                                 //: store
    }
}
