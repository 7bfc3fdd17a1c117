//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/settled.wgsl
//#include expansion/scan/block.wgsl
//#include expansion/size_classes/classes.wgsl
//#include expansion/size_classes/scan.wgsl
// Size classes, third of three passes: every src learns where its items begin in the output, and goes on the list of
// its class; a large one once for each piece. Scanned offsets instead of atomics keep the src of a list in order.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> sums: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> base: array<u32>;
@group(0) @binding(4) var<storage, read_write> small: array<u32>;
@group(0) @binding(5) var<storage, read_write> medium: array<u32>;
@group(0) @binding(6) var<storage, read_write> large: array<vec2<u32>>;   // (src, first item of the piece)
@group(0) @binding(7) var<storage, read> state: Settled;

@compute @workgroup_size(WG)
fn place(inv: Invocation) {
    let block = group_index(inv);
    let first = block * BLOCK + inv.local * ROW;
    // When something failed the lists have no room for what was counted.
    let inside = block < block_count() && state.total != 0u;
    var sum = vec4<u32>(0u);
    if (inside) {
        for (var i = 0u; i < ROW; i++) {
            if (first + i < params.src_count) {
                sum += tally_of(counts[first + i]);                         //: load
            }
        }
    }
    let before = workgroup_scan(inv.local, sum) - sum;                      //: scan
    if (!inside) {
        return;
    }
    var next = sums[block] + before;
    for (var i = 0u; i < ROW; i++) {
        let src = first + i;
        if (src < params.src_count) {
            let n = counts[src];
            let more = tally_of(n);
            base[src] = next.x;                                             //: store
            if (more.y != 0u) {
                small[next.y] = src;                                        //: small
            }
            if (more.z != 0u) {
                medium[next.z] = src;                                       //: medium
            }
            for (var piece = 0u; piece < more.w; piece++) {
                large[next.w + piece] = vec2<u32>(src, piece << piece_bits(n));   //: large
            }
            next += more;
        }
    }
}
