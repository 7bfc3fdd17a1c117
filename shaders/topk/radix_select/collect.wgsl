//#include topk/values.wgsl
//#include topk/radix_select/state.wgsl
//#include topk/gather.wgsl
// Selection by digits, the end: everything up to the chosen prefix goes to the list, in any order. There are at least
// k of them (all that count, where those are fewer) and at most params.list_room; sorting decides.
@group(0) @binding(4) var<storage, read> kept: array<vec2<u32>>;

var<private> chosen: State;

fn wanted(item: vec2<u32>) -> bool {
    return any(item != NO_ITEM) && !before(chosen.prefix, item & chosen.mask);
}

@compute @workgroup_size(WG)
fn collect(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let items = item_count();
    let state = enter(local, items);
    chosen = state;
    if (group.x == 0u && local == 0u) {
        store_state(step.round, state);
    }
    if (state.kept == NOT_KEPT) {
        let quads = quads_of(items);
        for (var start = group.x * 4u * WG; start < quads; start += groups.x * 4u * WG) {
            let at = tile_at(start + local);
            gather_tile(load_tile(at, items), at, items, COUNT_LISTED, local);   //: list
        }
    } else {
        for (var start = group.x * WG; start < state.kept; start += groups.x * WG) {
            var item = NO_ITEM;
            if (start + local < state.kept) {
                item = kept[start + local];                             //: again
            }
            let place = reserve(COUNT_LISTED, local, u32(wanted(item)));
            gather_one(item, place);
        }
    }
}
