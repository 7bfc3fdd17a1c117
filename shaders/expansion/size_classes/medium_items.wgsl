//#include <emit>
//#include lib/threads.wgsl
//#include expansion/size_classes/classes.wgsl
// Size classes, pass 2 of the medium src: a group of threads strides the items of one src.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> base: array<u32>;
@group(0) @binding(3) var<storage, read> medium: array<u32>;
@group(0) @binding(4) var<storage, read> filled: vec4<u32>;

@compute @workgroup_size(WG)
fn medium_items(inv: Invocation) {
    let entry = thread_index(inv) / GROUP;
    var src = 0u;
    var n = 0u;
    if (entry < filled.z) {
        src = medium[entry];                                                //: entry
        n = counts[src];
    }
    // All threads of the group take as many steps, at least one; the last ones may be idle.
    for (var local = inv.local % GROUP; local < max(GROUP, n + (GROUP - n % GROUP) % GROUP); local += GROUP) {
        begin(inv, 1u);
        if (local < n) {
            emit(inv, src, local, base[src] + local, entry);                //: work
        }
    }
}
