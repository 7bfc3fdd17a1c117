//#include topk/values.wgsl
//#include topk/radix_select/state.wgsl
//#include topk/gather.wgsl
// Selection by digits, one round (RAFT's select_k, 11/11/10 bits, and further digits of the index for ties).
// (1) Choose the digit of the round before. (2) Stop if what is left fits the list. (3) Count the next digit of every
// item that is still in question, in workgroup memory first. (4) As soon as few items are left, taken ones included,
// keep them in a buffer on the way (`gathered`), and later rounds read that.
var<private> chosen: State;
var<workgroup> bins: array<atomic<u32>, BINS>;

// BINS for an item that is not in question.
fn bin_of(item: vec2<u32>) -> u32 {
    let counts = any(item != NO_ITEM) && all((item & chosen.mask) == chosen.prefix);
    return select(BINS, digit_of(item), counts);
}

fn count_one(bin: u32) {
    if (bin < BINS) {
        atomicAdd(&bins[bin], 1u);
    }
}

// Neighbours often share a digit: one addition then.
fn count_four(a: u32, b: u32, c: u32, d: u32) {
    if (a == b && b == c && c == d) {
        if (a < BINS) {
            atomicAdd(&bins[a], 4u);
        }
        return;
    }
    count_one(a);
    count_one(b);
    count_one(c);
    count_one(d);
}

fn count_quad(words: vec4<u32>, quad: u32, items: u32) {
    for (var part = 0u; part < PER_WORD; part++) {
        count_four(
            bin_of(item_of(words.x, 4u * quad, part, items)),
            bin_of(item_of(words.y, 4u * quad + 1u, part, items)),
            bin_of(item_of(words.z, 4u * quad + 2u, part, items)),
            bin_of(item_of(words.w, 4u * quad + 3u, part, items)),
        );
    }
}

fn wanted(item: vec2<u32>) -> bool {
    return any(item != NO_ITEM) && !before(chosen.prefix, item & chosen.mask);
}

@compute @workgroup_size(WG)
fn round(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let items = item_count();
    let state = enter(local, items);
    chosen = state;
    let keeps = step.round > 0u && state.done == 0u && state.kept == NOT_KEPT && state.taken + state.inside <= params.kept_room;
    if (group.x == 0u && local == 0u) {
        var mine = state;
        if (keeps) {
            mine.kept = state.taken + state.inside;
        }
        store_state(step.round, mine);
    }
    if (state.done == 1u) {                                                 //: stop
        return;
    }
    for (var i = local; i < BINS; i += WG) {
        atomicStore(&bins[i], 0u);
    }
    workgroupBarrier();
    if (state.kept == NOT_KEPT) {
        let quads = quads_of(items);
        for (var start = group.x * 4u * WG; start < quads; start += groups.x * 4u * WG) {
            let at = tile_at(start + local);
            let tile = load_tile(at, items);                                //: load
            count_quad(tile[0], at[0], items);                              //: count
            count_quad(tile[1], at[1], items);
            count_quad(tile[2], at[2], items);
            count_quad(tile[3], at[3], items);
            if (keeps) {
                gather_tile(tile, at, items, COUNT_KEPT, local);         //: keep
            }
        }
    } else {
        for (var i = group.x * WG + local; i < state.kept; i += groups.x * WG) {
            count_one(bin_of(gathered[i]));                              //: again
        }
    }
    workgroupBarrier();
    for (var i = local; i < BINS; i += WG) {
        let count = atomicLoad(&bins[i]);
        if (count != 0u) {
            atomicAdd(&work[HISTOGRAMS + step.round * BINS + i], count);         //: merge
        }
    }
}
