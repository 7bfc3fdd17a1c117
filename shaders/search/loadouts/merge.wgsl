//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/keys.wgsl
// The best of all devices: an item's place is its rank on its own device and the number of better ones on each other.
// The devices had consecutive parts, so of equal scores those of the earlier device come first.
//#include <devices>

fn held(device: u32) -> u32 {
    return min(K, word_of(device, 0u));
}

fn key_at(device: u32, rank: u32) -> u32 {
    return key_of(word_of(device, HEAD + rank * (1u + SLOTS)));
}

@compute @workgroup_size(WG)
fn merge_winners(inv: Invocation) {
    let thread = thread_index(inv);
    if (thread >= DEVICES * K) {
        return;
    }
    let device = thread / K;
    let rank = thread % K;
    for (var word = rank; word < HEAD; word += K) {
        best[device * HEAD + word] = word_of(device, word);
    }
    if (rank >= held(device)) {
        return;
    }
    let key = key_at(device, rank);
    var place = rank;
    for (var other = 0u; other < DEVICES; other++) {
        if (other == device) {
            continue;
        }
        var low = 0u;
        var high = held(other);
        while (low < high) {
            let middle = (low + high) / 2u;
            let theirs = key_at(other, middle);
            if (theirs < key || (theirs == key && other < device)) {
                low = middle + 1u;
            } else {
                high = middle;
            }
        }
        place += low;                                                       //: place
    }
    if (place < K) {
        for (var word = 0u; word <= SLOTS; word++) {
            best[DEVICES * HEAD + place * (1u + SLOTS) + word] = word_of(device, HEAD + rank * (1u + SLOTS) + word);
        }
    }
}
