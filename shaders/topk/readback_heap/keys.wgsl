//#include topk/item.wgsl
// Readback and heap: the key of every score, all of which go back to the host.
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;

@compute @workgroup_size(WG)
fn keys_out(inv: Invocation) {
    let items = item_count();
    for (var i = inv.group.x * WG + inv.local; i < items; i += inv.groups.x * WG) {
        keys[i] = key_of(bits_of(values[i / PER_WORD], i % PER_WORD));      //: key
    }
}
