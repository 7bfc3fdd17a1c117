//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
// Draws, pass 1: every src with items appends one draw.
// (1) Take N. (2) Reserve N places of the output. (3) Reserve a draw. (4) Write it: N vertices, and the src as its
// first instance, which is how the vertices get to know it.
struct Draw {
    vertices: u32,
    instances: u32,
    first_vertex: u32,
    first_instance: u32,
}
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> places: array<vec2<u32>>;   // of each src: first item, draw
@group(0) @binding(3) var<storage, read_write> draws: array<Draw>;
@group(0) @binding(4) var<storage, read_write> drawn: atomic<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

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
    let draw = atomicAdd(&drawn, 1u);                                       //: append
    places[src] = vec2<u32>(first, draw);
    draws[draw] = Draw(n, 1u, 0u, src);                                     //: write
}
