//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
//#include expansion/scan/block.wgsl
//#include expansion/size_classes/classes.wgsl
//#include expansion/size_classes/scan.wgsl
// Size classes, second of three passes: one workgroup turns the tallies of the blocks into offsets, WG at a time with a
// carry, and then knows how many threads each class needs.
@group(0) @binding(2) var<storage, read_write> sums: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read_write> filled: vec4<u32>;
@group(0) @binding(5) var<storage, read_write> launches: array<u32, 9>;

var<workgroup> any_wrapped: atomic<u32>;

fn launch_class(class_index: u32, groups: vec3<u32>) {
    launches[3u * class_index] = groups.x;
    launches[3u * class_index + 1u] = groups.y;
    launches[3u * class_index + 2u] = groups.z;
}

@compute @workgroup_size(WG)
fn lay_out(@builtin(local_invocation_index) local: u32) {
    if (local == 0u) {
        atomicStore(&any_wrapped, 0u);
    }
    let blocks = block_count();
    var carry = vec4<u32>(0u);
    for (var first = 0u; first < blocks; first += WG) {
        let block = first + local;
        var sum = vec4<u32>(0u);
        if (block < blocks) {
            sum = sums[block];                                              //: load
        }
        let upto = workgroup_scan(local, sum);                              //: scan
        if (upto.x < sum.x || carry.x + upto.x < carry.x) {
            atomicOr(&any_wrapped, 1u);
        }
        if (block < blocks) {
            sums[block] = carry + upto - sum;                               //: store
        }
        carry += scan_rows[WG - 1u];
        workgroupBarrier();
    }
    workgroupBarrier();
    if (local == 0u) {
        let total = settle(carry.x, select(0u, FAILED_OVERFLOW, atomicLoad(&any_wrapped) != 0u));
        let used = select(carry, vec4<u32>(0u), total == 0u);
        filled = used;
        launch_class(0u, fold_threads(used.y, WG));                         //: launch
        launch_class(1u, fold_threads(used.z * GROUP, WG));
        launch_class(2u, fold(used.w));
        launch(total);
    }
}
