//#include <emit>
// Four neighbouring items of one thread, for an end of pass 2 that takes them one by one: a step for each.
fn emit4(inv: Invocation, count: u32, src: vec4<u32>, local: vec4<u32>, dst: u32, entry: vec4<u32>) {
    for (var i = 0u; i < 4u; i++) {
        begin(inv, 0xFFFFFFFFu);
        if (i < count) {
            emit(inv, src[i], local[i], dst + i, entry[i]);
        }
    }
}
