// The result: indices, scores as the input has them, and four words of status.
@group(0) @binding(6) var<storage, read_write> out_indices: array<u32>;
@group(0) @binding(7) var<storage, read_write> out_values: array<atomic<u32>>;

fn put(place: u32, item: vec2<u32>) {
    out_indices[place] = item.y;
    let word = values[item.y / PER_WORD];
    if (FORMAT == FLOAT16) {
        // Two results share a word, which starts as 0.
        let half = (bits_of(word, item.y % PER_WORD) >> 16u) << (16u * (place % 2u));
        atomicOr(&out_values[place / 2u], half);
    } else {
        atomicStore(&out_values[place], word);
    }
}
