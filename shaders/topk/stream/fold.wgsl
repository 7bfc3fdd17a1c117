//#include lib/invocation.wgsl
//#include lib/keys.wgsl
//#include topk/pairs.wgsl
// A push that takes several runs: the result of a run is merged into what the runs before have found, so that only the
// best of all of them go back to the host. Both rows are sorted and no two items are equal, so the place of an item is its
// own rank and the number of items of the other row that are before it, by binary search.
struct Fold {
    first: u32,   // index of the run's first score within the push
    k: u32,       // items that `held` has room for
}
@group(0) @binding(0) var<uniform> fold: Fold;
@group(0) @binding(1) var<storage, read> status: array<u32, 4>;
@group(0) @binding(2) var<storage, read> out_indices: array<u32>;
@group(0) @binding(3) var<storage, read> out_values: array<u32>;
// How many, and then the index and the score's bits of each.
@group(0) @binding(4) var<storage, read> held: array<u32>;
@group(0) @binding(5) var<storage, read_write> merged: array<u32>;

fn held_item(place: u32) -> vec2<u32> {
    return vec2<u32>(key_of(bits_of(held[2u * place + 2u], 0u)), held[2u * place + 1u]);
}

fn found_word(place: u32) -> u32 {
    let word = out_values[place / PER_WORD];
    return select(word, (word >> (16u * (place % 2u))) & 0xFFFFu, FORMAT == FLOAT16);
}

fn found_item(place: u32) -> vec2<u32> {
    return vec2<u32>(key_of(bits_of(found_word(place), 0u)), out_indices[place] + fold.first);
}

// How many items of a row are before `item`; row 0: held, 1: found.
fn earlier(row: u32, count: u32, item: vec2<u32>) -> u32 {
    var low = 0u;
    var high = count;
    while (low < high) {
        let middle = low + (high - low) / 2u;
        var there = vec2<u32>(0u);
        if (row == 0u) {
            there = held_item(middle);
        } else {
            there = found_item(middle);
        }
        if (before(there, item)) {                                          //: probe
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    return low;
}

fn put(place: u32, index: u32, bits: u32) {
    if (place < fold.k) {
        merged[2u * place + 1u] = index;                                    //: put
        merged[2u * place + 2u] = bits;
    }
}

@compute @workgroup_size(WG)
fn fold_run(inv: Invocation) {
    let had = min(held[0], fold.k);
    let found = min(status[0], arrayLength(&out_indices));
    for (var i = inv.group.x * WG + inv.local; i < max(1u, max(had, found)); i += inv.groups.x * WG) {
        if (i == 0u) {
            merged[0] = min(fold.k, had + found);
        }
        if (i < had) {
            let item = held_item(i);
            put(i + earlier(1u, found, item), item.y, held[2u * i + 2u]);
        }
        if (i < found) {
            let item = found_item(i);
            put(i + earlier(0u, had, item), item.y, found_word(i));
        }
    }
}
