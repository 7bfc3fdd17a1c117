//#include <emit>
//#include lib/threads.wgsl
//#include expansion/po2/buckets.wgsl
//#include expansion/po2/piece.wgsl
// Power-of-two buckets with a dispatch for each, pass 2 of bucket BUCKET: a shift finds the entry, and the shift is a
// constant of the shader.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<u32>;
@group(0) @binding(3) var<storage, read> filled: array<u32, BUCKETS>;
@group(0) @binding(5) var<storage, read> firsts: array<u32, BUCKETS>;

@compute @workgroup_size(WG)
fn unpack(inv: Invocation) {
    begin(inv, BUCKET);
    let item = thread_index(inv);
    let entry = item >> BUCKET;
    if (item == NO_THREAD || entry >= filled[BUCKET]) {
        return;
    }
    let found = piece(first_entry(BUCKET) + entry, BUCKET);
    emit(inv, found.x, found.y + (item & ((1u << BUCKET) - 1u)), firsts[BUCKET] + item, entry);   //: work
}
