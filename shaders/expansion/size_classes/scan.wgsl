// Inclusive prefix sum over the workgroup of four counts at once (Hillis and Steele 1986).
var<workgroup> scan_rows: array<vec4<u32>, WG>;

fn workgroup_scan(local: u32, value: vec4<u32>) -> vec4<u32> {
    scan_rows[local] = value;
    workgroupBarrier();
    for (var step = 1u; step < WG; step <<= 1u) {
        var left = vec4<u32>(0u);
        if (local >= step) {
            left = scan_rows[local - step];
        }
        workgroupBarrier();
        scan_rows[local] += left;
        workgroupBarrier();
    }
    return scan_rows[local];
}
