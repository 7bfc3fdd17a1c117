//#include topk/append.wgsl
// Appending the items that the including shader's `fn wanted(item: vec2<u32>) -> bool` wants; four quads for a thread at
// a time. What finds no room is counted and not written.
@group(0) @binding(5) var<storage, read_write> gathered: array<vec2<u32>>;

fn wanted_in(words: vec4<u32>, quad: u32, items: u32) -> u32 {
    var count = 0u;
    for (var part = 0u; part < PER_WORD; part++) {
        count += u32(wanted(item_of(words.x, 4u * quad, part, items)))
            + u32(wanted(item_of(words.y, 4u * quad + 1u, part, items)))
            + u32(wanted(item_of(words.z, 4u * quad + 2u, part, items)))
            + u32(wanted(item_of(words.w, 4u * quad + 3u, part, items)));
    }
    return count;
}

fn gather_one(item: vec2<u32>, place: u32) -> u32 {
    if (!wanted(item)) {
        return place;
    }
    if (place < arrayLength(&gathered)) {
        gathered[place] = item;
    }
    return place + 1u;
}

fn gather_quad(words: vec4<u32>, quad: u32, items: u32, first: u32) -> u32 {
    var place = first;
    for (var part = 0u; part < PER_WORD; part++) {
        place = gather_one(item_of(words.x, 4u * quad, part, items), place);
        place = gather_one(item_of(words.y, 4u * quad + 1u, part, items), place);
        place = gather_one(item_of(words.z, 4u * quad + 2u, part, items), place);
        place = gather_one(item_of(words.w, 4u * quad + 3u, part, items), place);
    }
    return place;
}

// Four quads of a thread: neighbouring threads read neighbouring quads, and no load waits for another.
alias Tile = array<vec4<u32>, 4>;

fn load_tile(at: array<u32, 4>, items: u32) -> Tile {
    return Tile(load_quad(at[0], items), load_quad(at[1], items), load_quad(at[2], items), load_quad(at[3], items));
}

// The quads of a thread when the workgroup reads all scores in order.
fn tile_at(quad: u32) -> array<u32, 4> {
    return array<u32, 4>(quad, quad + WG, quad + 2u * WG, quad + 3u * WG);
}

// All threads of the workgroup call it together. Written out: an array that a loop walks lies in memory, not in registers.
fn gather_tile(tile: Tile, at: array<u32, 4>, items: u32, counter: u32, local: u32) {
    let mine = wanted_in(tile[0], at[0], items) + wanted_in(tile[1], at[1], items)
        + wanted_in(tile[2], at[2], items) + wanted_in(tile[3], at[3], items);
    var place = reserve(counter, local, mine);
    if (mine != 0u) {
        place = gather_quad(tile[0], at[0], items, place);
        place = gather_quad(tile[1], at[1], items, place);
        place = gather_quad(tile[2], at[2], items, place);
        place = gather_quad(tile[3], at[3], items, place);
    }
}
