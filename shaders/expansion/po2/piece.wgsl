// What an entry stands for: (src, offset of its first item within the src). The offset is what the lower bits of N stand
// for; STORED = 1: pass 1 has written it down beside the src, so that pass 2 need not read N.
fn piece(place: u32, bucket: u32) -> vec2<u32> {
    let at = place * (1u + STORED);
    let src = entries[at];                                                  //: entry
    if (STORED == 1u) {
        return vec2<u32>(src, entries[at + 1u]);
    }
    return vec2<u32>(src, counts[src] & ((1u << bucket) - 1u));
}
