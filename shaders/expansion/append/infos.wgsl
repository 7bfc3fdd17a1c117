// Some drivers end a loop after so many rounds (Mesa's llvmpipe does), and a thread that loops longer holds up its
// whole subgroup: a larger N is refused, not cut short.
const LONGEST: u32 = 65535u;
@group(0) @binding(2) var<storage, read_write> infos: array<vec2<u32>>;

// Write the infos of one src, as far as they fit: counting goes on when the infos are full, writing does not.
fn write_infos(src: u32, n: u32, first: u32) {
    if (n > LONGEST) {
        atomicOr(&state.failure, FAILED_LOOP);
        return;
    }
    let room = params.capacity - min(first, params.capacity);
    for (var local = 0u; local < min(n, room); local++) {
        infos[first + local] = vec2<u32>(src, local);                       //: write
    }
}
