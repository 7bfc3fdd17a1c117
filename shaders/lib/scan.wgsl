// Inclusive prefix sum over the workgroup (Hillis and Steele 1986): log2(WG) rounds, two barriers each.
var<workgroup> scan_words: array<u32, WG>;

fn workgroup_scan(local: u32, value: u32) -> u32 {
    scan_words[local] = value;                                              //: put
    workgroupBarrier();
    for (var step = 1u; step < WG; step <<= 1u) {
        var left = 0u;
        if (local >= step) {
            left = scan_words[local - step];                                //: left
        }
        workgroupBarrier();
        scan_words[local] += left;                                          //: add
        workgroupBarrier();
    }
    return scan_words[local];
}

// The sum over the workgroup, after workgroup_scan.
fn workgroup_total() -> u32 {
    return scan_words[WG - 1u];
}
