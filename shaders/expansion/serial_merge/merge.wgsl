//#include <emit4>
//#include lib/threads.wgsl
//#include lib/settled.wgsl
//#include expansion/tile_search/tile.wgsl
// Serial merge, pass 2: a thread owns TILE neighbouring items, and walks the entries and the items side by side.
// Empty src have no entry, so that one item never moves on by more than one entry: nothing is searched, no loop waits
// inside the step, and four items leave in one 16-byte store for each array.
@group(0) @binding(1) var<storage, read> entries: array<vec2<u32>>;   // (src, end of its range)
@group(0) @binding(2) var<storage, read> tile_entry: array<u32>;
@group(0) @binding(3) var<storage, read> state: Settled;

// Where a thread is among the entries.
struct Walk {
    entry: u32,
    src: u32,
    begins: u32,    // the first item of the src's range
    ends: u32,      // one past its last
}

// On to the next entry if the range has ended before `item`.
fn walk_to(at: Walk, item: u32) -> Walk {
    if (item < at.ends) {
        return at;
    }
    let next = entries[at.entry + 1u];                                      //: next
    return Walk(at.entry + 1u, next.x, at.ends, next.y);
}

@compute @workgroup_size(WG)
fn merge(inv: Invocation) {
    let tile = thread_index(inv);
    var at = Walk(0u, 0u, 0u, NO_THREAD);
    var first = 0u;
    var items = 0u;
    if (tile < tile_count(state.total)) {
        first = tile * TILE;
        items = min(TILE, state.total - first);
        at.entry = tile_entry[tile];                                        //: entry
        let own = entries[at.entry];
        at.src = own.x;
        at.ends = own.y;
        if (at.entry > 0u) {
            at.begins = entries[at.entry - 1u].y;
        }
    }
    // Every thread takes one step at least. Nobody walks past the last item, behind which there is no entry.
    let last = first + max(items, 1u) - 1u;
    for (var done = 0u; done < max(items, 1u); done += 4u) {
        let dst = first + done;
        let a = walk_to(at, dst);
        let b = walk_to(a, min(dst + 1u, last));
        let c = walk_to(b, min(dst + 2u, last));
        at = walk_to(c, min(dst + 3u, last));
        let src = vec4<u32>(a.src, b.src, c.src, at.src);
        let local = vec4<u32>(dst, dst + 1u, dst + 2u, dst + 3u) - vec4<u32>(a.begins, b.begins, c.begins, at.begins);
        let entry = vec4<u32>(a.entry, b.entry, c.entry, at.entry);
        emit4(inv, min(4u, items - done), src, local, dst, entry);          //: work
    }
}
