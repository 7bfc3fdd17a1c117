//#include <emit>
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/scan.wgsl
//#include expansion/workgroup_scan/block.wgsl
// Block-mapped expansion, pass 2: a workgroup scans the N of its block again, in workgroup memory, and its threads
// stride the block's items together, WG at a time; each finds its src among the WG ends of the block.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> base: array<u32>;
@group(0) @binding(3) var<storage, read> helpers: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read> helpers_used: u32;

// How many ends of the block are at most `item`: log2(WG) probes, and never WG, because the last end is beyond.
fn owner(item: u32) -> u32 {
    var low = 0u;
    for (var step = WG / 2u; step != 0u; step >>= 1u) {
        if (scan_words[low + step - 1u] <= item) {                          //: probe
            low += step;
        }
    }
    return low;
}

@compute @workgroup_size(WG)
fn stride(inv: Invocation) {
    let group = group_index(inv);
    let blocks = block_count();
    let helps = group >= blocks && group - blocks < helpers_used;
    var block = group;
    var first = 0u;
    if (helps) {
        let called = helpers[group - blocks];                               //: helper
        block = called.x;
        first = called.y;
    }
    var n = 0u;
    if (block < blocks && block * WG + inv.local < params.src_count) {
        n = counts[block * WG + inv.local];                                 //: load
    }
    workgroup_scan(inv.local, n);                                           //: scan
    let total = workgroup_total();
    if (!helps) {
        first = total - total % PART;
    }
    let items = min(PART, total - first);
    // All threads of the workgroup take as many steps, at least one; the last ones may be idle.
    for (var i = inv.local; i < max(WG, items + (WG - items % WG) % WG); i += WG) {
        begin(inv, NO_THREAD);
        if (i < items) {
            let item = first + i;
            let place = owner(item);
            var start = 0u;
            if (place > 0u) {
                start = scan_words[place - 1u];
            }
            emit(inv, block * WG + place, item - start, base[block] + item, block);   //: work
        }
    }
}
