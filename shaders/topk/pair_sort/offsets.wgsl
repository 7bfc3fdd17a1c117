//#include lib/scan.wgsl
// Radix sort, second of three passes: one workgroup turns the counts into first places, digit by digit, block by block.
@group(0) @binding(4) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(WG)
fn offsets(@builtin(local_invocation_index) local: u32) {
    let words = arrayLength(&counts);
    let row = words / WG + u32(words % WG != 0u);
    var sum = 0u;
    for (var i = 0u; i < row; i++) {
        let at = local * row + i;
        if (at < words) {
            sum += counts[at];
        }
    }
    var place = workgroup_scan(local, sum) - sum;                           //: scan
    for (var i = 0u; i < row; i++) {
        let at = local * row + i;
        if (at < words) {
            let here = counts[at];
            counts[at] = place;
            place += here;
        }
    }
}
