//#include topk/values.wgsl
//#include topk/work.wgsl
//#include topk/sortable.wgsl
//#include topk/delegate/pieces.wgsl
// Delegates, first pass, the only one that reads all scores: the best item of every piece.
// (1) WG / LANES threads share a piece and read it quad by quad, four in flight for each; a workgroup's threads read whole
// rows. (2) What a thread compares is only the best number of a quad; which of the four it was, it finds in the end.
// (3) The threads of a piece compare. Also zeroes what later passes count in.
@group(0) @binding(4) var<storage, read_write> best: array<vec2<u32>>;
const ROWS: u32 = WG / LANES;

var<workgroup> thread_best: array<vec2<u32>, WG>;

fn best_in(words: vec4<u32>) -> i32 {
    var found = sortable(words.x, 0u);
    if (PER_WORD == 2u) {
        found = max(found, sortable(words.x, 1u));
        found = max(found, max(sortable(words.y, 1u), max(sortable(words.z, 1u), sortable(words.w, 1u))));
    }
    return max(found, max(sortable(words.y, 0u), max(sortable(words.z, 0u), sortable(words.w, 0u))));
}

// The first item of a quad whose number is the quad's best.
fn first_best(quad: u32, items: u32) -> vec2<u32> {
    let words = load_quad(quad, items);
    var found = NO_ITEM;
    for (var place = 0u; place < 4u * PER_WORD; place++) {
        let word = words[place / PER_WORD];
        let item = vec2<u32>(key_of(bits_of(word, place % PER_WORD)), 4u * PER_WORD * quad + place);
        if (item.y < items && before(item, found)) {
            found = item;
        }
    }
    return found;
}

@compute @workgroup_size(WG)
fn maxima(inv: Invocation) {
    let items = item_count();
    // The last quads may hold fewer than four words; those go the long way.
    let whole = items / (4u * PER_WORD);
    let quads = quads_of(items);
    let pieces = inv.groups.x * LANES;
    let step = pieces * ROWS;
    let lane = inv.local % LANES;
    for (var i = inv.group.x * WG + inv.local; i < arrayLength(&work); i += inv.groups.x * WG) {
        atomicStore(&work[i], 0u);                                          //: reset
    }
    var quad = inv.group.x * LANES + lane + inv.local / LANES * pieces;
    var mine = least();
    var where_best = quad;
    // Written so that nothing overflows: no sum of a quad and steps is formed beyond the quads there are.
    for (; whole > 3u * step && quad < whole - 3u * step; quad += 4u * step) {
        let a = best_in(values4[quad]);                                     //: load
        let b = best_in(values4[quad + step]);
        let c = best_in(values4[quad + 2u * step]);
        let d = best_in(values4[quad + 3u * step]);
        // In order of their indices, and only what is better: of equal scores the first counts.
        if (max(max(a, b), max(c, d)) > mine) {                             //: compare
            if (a > mine) {
                mine = a;
                where_best = quad;
            }
            if (b > mine) {
                mine = b;
                where_best = quad + step;
            }
            if (c > mine) {
                mine = c;
                where_best = quad + 2u * step;
            }
            if (d > mine) {
                mine = d;
                where_best = quad + 3u * step;
            }
        }
    }
    for (; quad < whole; quad += step) {
        let a = best_in(values4[quad]);
        if (a > mine) {
            mine = a;
            where_best = quad;
        }
    }
    var item = NO_ITEM;
    if (where_best < quads) {
        item = first_best(where_best, items);
    }
    if (quad < quads) {
        let last = first_best(quad, items);
        if (before(last, item)) {
            item = last;
        }
    }
    thread_best[inv.local] = item;
    workgroupBarrier();
    if (inv.local < LANES) {
        for (var row = 1u; row < ROWS; row++) {
            let other = thread_best[row * LANES + lane];
            if (before(other, item)) {
                item = other;                                               //: team
            }
        }
        best[inv.group.x * LANES + lane] = item;                            //: store
    }
}
