//#include lib/params.wgsl
//#include lib/state.wgsl
//#include lib/settle.wgsl
//#include expansion/po2/lay_out.wgsl
// Power-of-two buckets, set-up: where every bucket's threads and items begin in the one dispatch.
const BUCKETS: u32 = 32u;
@group(0) @binding(2) var<storage, read> filled: array<u32, BUCKETS>;

@compute @workgroup_size(1)
fn setup() {
    var laid = Layout(0u, 0u, 0u);
    for (var bucket = 0u; bucket < BUCKETS; bucket++) {
        if (filled[bucket] > 0xFFFFFFFFu >> bucket) {
            laid.failed |= FAILED_OVERFLOW;
        }
        laid = add_bucket(laid, bucket, filled[bucket] << bucket);
    }
    finish(laid);                                                           //: launch
}
