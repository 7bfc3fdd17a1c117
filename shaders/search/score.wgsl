//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/keys.wgsl
//#include topk/pairs.wgsl
// Exhaustive search, the only pass: score and select in one. A thread takes CHAIN neighbouring picks of a mixed-radix
// product. (1) The host has decoded the number of the pass's first pick into one digit for each slot, exactly, however
// large it is; the thread adds its own distance to the digits, with carry. (2) It scores a pick, and goes on to the
// next one as an odometer does. (3) Only a score before the bound, the k-th best so far, is written down, with its
// place in the pass; scores of all others stay in registers.
const TASK: u32 = 4u;   // words of `task` before the sizes
@group(0) @binding(0) var<storage, read> task: array<u32>;   // picks, bound's key and place, room, sizes, digits
@group(0) @binding(1) var<storage, read_write> found: array<vec2<u32>>;        // score's bits, place in the pass
@group(0) @binding(2) var<storage, read_write> tally: array<atomic<u32>, 4>;   // how many are before the bound
//#include <buffers>
//#include <score>

fn pick_at(place: u32) -> array<u32, SLOTS> {
    var pick: array<u32, SLOTS>;
    var carry = place;
    for (var i = SLOTS; i > 0u; i--) {
        let slot = i - 1u;
        let size = task[TASK + slot];
        let digit = task[TASK + SLOTS + slot];
        let more = carry % size;
        carry /= size;
        // digit + more may not fit 32 bits.
        if (digit >= size - more) {
            pick[slot] = digit - (size - more);
            carry += 1u;
        } else {
            pick[slot] = digit + more;
        }
    }
    return pick;
}

@compute @workgroup_size(WG)
fn score_picks(inv: Invocation) {
    touch();
    let picks = task[0];
    let bound = vec2<u32>(task[1], task[2]);
    let thread = thread_index(inv);
    if (thread > (picks - 1u) / CHAIN) {
        return;
    }
    let first = thread * CHAIN;
    var pick = pick_at(first);                                              //: first
    for (var place = first; place < min(first + CHAIN, picks); place++) {
        let bits = bitcast<u32>(score(pick));                               //: score
        if (before(vec2<u32>(key_of(bits), place), bound)) {
            let slot = atomicAdd(&tally[0], 1u);
            if (slot < task[3]) {
                found[slot] = vec2<u32>(bits, place);                       //: keep
            }
        }
        for (var i = SLOTS; i > 0u; i--) {
            pick[i - 1u] += 1u;                                             //: next
            if (pick[i - 1u] < task[TASK + i - 1u]) {
                break;
            }
            pick[i - 1u] = 0u;
        }
    }
}
