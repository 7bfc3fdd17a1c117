//#include lib/scan.wgsl
//#include topk/work.wgsl
//#include topk/step.wgsl
// Where a selection by digits stands after some rounds. An item is a pair (key, index) of 64 bits; its leading digits
// are chosen one after the other, first the key's and then, for ties, the index's. With the chosen digits in `prefix`
// and their bits in `mask`, an item is taken if (item & mask) < prefix, and still in question if it is equal.
struct State {
    prefix: vec2<u32>,
    mask: vec2<u32>,
    taken: u32,      // items below the prefix: fewer than k
    inside: u32,     // items equal to it
    done: u32,       // 1: taken + inside fit the list
    kept: u32,       // items in the buffer `kept` that hold all that matters, or NOT_KEPT: read the scores
}
const NOT_KEPT: u32 = 0xFFFFFFFFu;
const PER_THREAD: u32 = BINS / WG;   // bins for a thread

var<workgroup> shared_state: State;

fn load_state(number: u32) -> State {
    let at = STATES + 8u * number;
    return State(
        vec2<u32>(atomicLoad(&work[at]), atomicLoad(&work[at + 1u])),
        vec2<u32>(atomicLoad(&work[at + 2u]), atomicLoad(&work[at + 3u])),
        atomicLoad(&work[at + 4u]), atomicLoad(&work[at + 5u]), atomicLoad(&work[at + 6u]), atomicLoad(&work[at + 7u])
    );
}

fn store_state(number: u32, state: State) {
    let at = STATES + 8u * number;
    atomicStore(&work[at], state.prefix.x);
    atomicStore(&work[at + 1u], state.prefix.y);
    atomicStore(&work[at + 2u], state.mask.x);
    atomicStore(&work[at + 3u], state.mask.y);
    atomicStore(&work[at + 4u], state.taken);
    atomicStore(&work[at + 5u], state.inside);
    atomicStore(&work[at + 6u], state.done);
    atomicStore(&work[at + 7u], state.kept);
}

// The state before the first round: nothing is chosen. step.found: the method has put what matters in `kept` already, unless
// it did not fit there.
fn first_state(items: u32) -> State {
    var state = State(vec2<u32>(0u), vec2<u32>(0u), 0u, items, u32(items <= params.list_room), NOT_KEPT);
    if (step.found == 1u) {
        let found = atomicLoad(&work[COUNT_FOUND]);
        if (found <= params.kept_room) {
            state.inside = found;
            state.kept = found;
            state.done = u32(found <= params.list_room);
        }
    }
    return state;
}

// Choose the digit of the round before: the bin in which the k-th item lies. Every workgroup does it for itself, which
// takes less time than a dispatch of one workgroup between two rounds.
fn choose(local: u32, state: State) {
    let histogram = HISTOGRAMS + (step.round - 1u) * BINS;
    var sum = 0u;
    for (var i = 0u; i < PER_THREAD; i++) {
        sum += atomicLoad(&work[histogram + local * PER_THREAD + i]);       //: bins
    }
    let upto = workgroup_scan(local, sum);                                  //: scan
    let total = workgroup_total();
    var next = state;
    if (step.round == 1u && total <= params.list_room) {
        // All that count fit the list, so no digit has to be chosen.
        if (local == 0u) {
            next.inside = total;
            next.done = 1u;
            shared_state = next;
        }
        return;
    }
    let need = params.k - state.taken;
    if (upto >= need && upto - sum < need) {
        var below = upto - sum;
        var bin = local * PER_THREAD;
        var count = atomicLoad(&work[histogram + bin]);
        for (var i = 1u; i < PER_THREAD && below + count < need; i++) {
            below += count;
            bin += 1u;
            count = atomicLoad(&work[histogram + bin]);
        }
        let digit = bin << step.before_shift;
        let used = ((1u << step.before_bits) - 1u) << step.before_shift;
        let of_index = step.before_word == 1u;
        next.prefix |= select(vec2<u32>(digit, 0u), vec2<u32>(0u, digit), of_index);
        next.mask |= select(vec2<u32>(used, 0u), vec2<u32>(0u, used), of_index);
        next.taken += below;
        next.inside = count;
        next.done = u32(next.taken + count <= params.list_room);
        shared_state = next;                                                //: choose
    }
}

// The state at the start of the round, the same for the whole workgroup. All its threads call it.
fn enter(local: u32, items: u32) -> State {
    if (local == 0u) {
        if (step.round == 0u) {
            shared_state = first_state(items);
        } else {
            shared_state = load_state(step.round - 1u);
        }
    }
    let earlier = workgroupUniformLoad(&shared_state);
    if (step.round > 0u && earlier.done == 0u) {
        choose(local, earlier);
    }
    return workgroupUniformLoad(&shared_state);
}
