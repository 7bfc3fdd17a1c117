//#include <emit>
//#include lib/threads.wgsl
//#include expansion/size_classes/classes.wgsl
// Size classes, pass 2 of the small src: a thread loops over its own src. The threads of a group take as many steps as
// the longest of them, as the lanes of a subgroup do anyway.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> base: array<u32>;
@group(0) @binding(3) var<storage, read> small: array<u32>;
@group(0) @binding(4) var<storage, read> filled: vec4<u32>;

var<workgroup> longest: array<atomic<u32>, WG / GROUP>;

@compute @workgroup_size(WG)
fn small_items(inv: Invocation) {
    let entry = thread_index(inv);
    if (inv.local < WG / GROUP) {
        // At least one step, also of a group without src.
        atomicStore(&longest[inv.local], 1u);
    }
    workgroupBarrier();
    var src = 0u;
    var n = 0u;
    if (entry < filled.y) {
        src = small[entry];                                                 //: entry
        n = counts[src];
    }
    atomicMax(&longest[inv.local / GROUP], n);                              //: longest
    workgroupBarrier();
    let rounds = atomicLoad(&longest[inv.local / GROUP]);
    for (var local = 0u; local < rounds; local++) {
        begin(inv, 0u);
        if (local < n) {
            emit(inv, src, local, base[src] + local, entry);                //: work
        }
    }
}
