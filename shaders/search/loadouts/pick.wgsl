//#include search/loadouts/pool.wgsl
// From the number of a partial loadout, and the place within what it spawns, to the items. The last slot varies fastest,
// so places are in order of the loadouts' numbers.

// First kept place and number of choices of a slot, once the slots before it are chosen.
fn choices(slot: u32, pick: ptr<function, array<u32, SLOTS>>) -> vec2<u32> {
    let other = match_of(slot);
    if (other == NONE) {
        return vec2<u32>(0u, lists[slot]);
    }
    let at = SPANS_AT + 2u * (slot * SETS + set_of(other, (*pick)[other]));
    return vec2<u32>(lists[at], lists[at + 1u]);
}

// How many partial loadouts there are after culling.
fn partials() -> u32 {
    var count = 1u;
    for (var slot = 0u; slot < LEADING; slot++) {
        count *= lists[slot];
    }
    return count;
}

fn lead(number: u32, pick: ptr<function, array<u32, SLOTS>>) {
    var rest = number;
    for (var i = LEADING; i > 0u; i--) {
        let size = lists[i - 1u];
        (*pick)[i - 1u] = lists[KEPT_AT + first_of(i - 1u) + rest % size];
        rest /= size;
    }
}

fn follow(place: u32, pick: ptr<function, array<u32, SLOTS>>) {
    var rest = place;
    for (var i = SLOTS; i > LEADING; i--) {
        let span = choices(i - 1u, pick);
        (*pick)[i - 1u] = lists[KEPT_AT + first_of(i - 1u) + span.x + rest % span.y];
        rest /= span.y;
    }
}
