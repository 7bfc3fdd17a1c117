//#include topk/params.wgsl
// What the level before has kept; nothing where that did not fit.
@group(0) @binding(2) var<storage, read> some: array<vec2<u32>>;

fn source_count() -> u32 {
    let count = atomicLoad(&work[COUNT_PICKED]);
    return select(0u, count, count <= min(params.kept_room, arrayLength(&some)));
}

fn source_at(place: u32, all: u32) -> vec2<u32> {
    if (place >= all) {
        return NO_ITEM;
    }
    return some[place];
}
