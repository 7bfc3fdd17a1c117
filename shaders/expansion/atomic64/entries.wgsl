// One 64-bit word counts entries in its high half and items in its low half, so that one atomic gives a src both its
// place in the list and the items before it: the prefix sum comes for free, in the order of the atomics.
// A low half that would pass 2^32 would carry into the count. The value before says so: the src that causes the carry
// sees it, and every later one has a count that is too large by then; both report it, and nothing is expanded.
struct Entry {
    src: u32,
    count: u32,
    end: u32,      // items up to and with this entry
}
@group(0) @binding(2) var<storage, read_write> entries: array<Entry>;
@group(0) @binding(3) var<storage, read_write> packed: atomic<u64>;

fn packed_of(entry_count: u32, items: u32) -> u64 {
    return (u64(entry_count) << 32u) | u64(items);
}

fn write_entry(src: u32, n: u32, place: u32, before: u32) {
    if (before + n < before) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
        return;
    }
    // After a carry the count is one too large for each time; the entry of another src is not overwritten.
    if (place < arrayLength(&entries)) {
        entries[place] = Entry(src, n, before + n);                         //: write
    }
}
