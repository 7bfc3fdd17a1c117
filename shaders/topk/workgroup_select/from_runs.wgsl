//#include topk/params.wgsl
// The queues of the level before.
@group(0) @binding(2) var<storage, read> runs_in: array<vec2<u32>>;

fn source_count() -> u32 {
    return select(RUNS * QUEUE, 0u, params.n == 0u);
}

fn source_at(place: u32, all: u32) -> vec2<u32> {
    return runs_in[min(place, all - 1u)];
}
