//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
// Append, pass 1: every src writes one info for each of its items.
// (1) Take N. (2) Reserve N infos with one atomic. (3) Write them one after the other: the subgroup waits for its
// largest N, which is where this strategy loses.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> infos: array<vec2<u32>>;
@group(0) @binding(6) var<storage, read_write> state: State;

// Some drivers end a loop after so many rounds (Mesa's llvmpipe does), and a thread that loops longer holds up its
// whole subgroup: a larger N is refused, not cut short.
const LONGEST: u32 = 65535u;

@compute @workgroup_size(WG)
fn append(inv: Invocation) {
    let src = thread_index(inv);
    if (src >= params.src_count) {
        return;
    }
    let n = counts[src];                                                    //: load
    if (n == 0u) {
        return;
    }
    let first = atomicAdd(&state.total, n);                                 //: reserve
    if (first + n < first) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
    if (n > LONGEST) {
        atomicOr(&state.failure, FAILED_LOOP);
        return;
    }
    // Counting goes on when the infos are full; writing does not.
    let room = params.capacity - min(first, params.capacity);
    for (var local = 0u; local < min(n, room); local++) {
        infos[first + local] = vec2<u32>(src, local);                       //: write
    }
}
