// The pool of items, packed into one buffer, and the lists that culling leaves; shared by the passes of a loadout frame.
// pool: TASK words of the frame (first and end of the partial loadouts of each device), four words for each slot (place
// of its first item, items, the slot whose set it has to match or NONE, least worth), a set and a worth for each item.
// lists: how many items of each slot are kept, (first, count) of each set in each slot, then the kept items.
const TASK: u32 = 16u;
const NONE: u32 = 0xFFFFFFFFu;
const SETS_AT: u32 = TASK + 4u * SLOTS;
const WORTH_AT: u32 = SETS_AT + ITEMS;
const SPANS_AT: u32 = SLOTS;
const KEPT_AT: u32 = SPANS_AT + 2u * SLOTS * SETS;

fn first_of(slot: u32) -> u32 {
    return pool[TASK + 4u * slot];
}

fn match_of(slot: u32) -> u32 {
    return pool[TASK + 4u * slot + 2u];
}

fn set_of(slot: u32, item: u32) -> u32 {
    return pool[SETS_AT + first_of(slot) + item];
}
