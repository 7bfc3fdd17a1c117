//#include lib/scan.wgsl
// The k-th smallest of `count` keys, by one workgroup: three digits of 11, 11 and 10 bits, a histogram in workgroup memory
// for each. The including shader has `fn key_at(place: u32) -> u32`. All threads call it, with 1 <= k <= count.
var<workgroup> kth_bins: array<atomic<u32>, 2048>;
var<workgroup> kth_choice: vec2<u32>;   // bin, and how many are still to go in it

fn kth_key(count: u32, k: u32, local: u32) -> u32 {
    let each = 2048u / WG;
    var prefix = 0u;
    var mask = 0u;
    var need = k;
    for (var digit = 0u; digit < 3u; digit++) {
        let shift = select(select(0u, 10u, digit == 1u), 21u, digit == 0u);
        let ones = select(0x7FFu, 0x3FFu, digit == 2u);
        for (var i = 0u; i < each; i++) {
            atomicStore(&kth_bins[i * WG + local], 0u);
        }
        workgroupBarrier();
        for (var i = local; i < count; i += WG) {
            let key = key_at(i);
            if ((key & mask) == prefix) {
                atomicAdd(&kth_bins[(key >> shift) & ones], 1u);            //: count
            }
        }
        workgroupBarrier();
        var sum = 0u;
        for (var i = 0u; i < each; i++) {
            sum += atomicLoad(&kth_bins[local * each + i]);
        }
        let upto = workgroup_scan(local, sum);
        if (upto >= need && upto - sum < need) {
            var below = upto - sum;
            var bin = local * each;
            var here = atomicLoad(&kth_bins[bin]);
            for (var i = 1u; i < each && below + here < need; i++) {
                below += here;
                bin += 1u;
                here = atomicLoad(&kth_bins[bin]);
            }
            kth_choice = vec2<u32>(bin, need - below);                      //: choose
        }
        let choice = workgroupUniformLoad(&kth_choice);
        prefix |= choice.x << shift;
        mask |= ones << shift;
        need = choice.y;
    }
    return prefix;
}
