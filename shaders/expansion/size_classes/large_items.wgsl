//#include <emit>
//#include lib/threads.wgsl
//#include expansion/size_classes/classes.wgsl
// Size classes, pass 2 of the large src: a workgroup strides one piece of one src.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> base: array<u32>;
@group(0) @binding(3) var<storage, read> large: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> filled: vec4<u32>;

@compute @workgroup_size(WG)
fn large_items(inv: Invocation) {
    let entry = group_index(inv);
    var src = 0u;
    var first = 0u;
    var items = 0u;
    if (entry < filled.w) {
        let piece = large[entry];                                           //: entry
        src = piece.x;
        first = piece.y;
        items = min(counts[src] - first, 1u << piece_bits(counts[src]));
    }
    // All threads of the workgroup take as many steps, at least one; the last ones may be idle.
    for (var i = inv.local; i < max(WG, items + (WG - items % WG) % WG); i += WG) {
        begin(inv, 2u);
        if (i < items) {
            emit(inv, src, first + i, base[src] + first + i, entry);        //: work
        }
    }
}
