// What `place` keeps of the scanned counts: an entry for every src that has items, and none for the others. A src is
// known by the place of its entry.
@group(0) @binding(3) var<storage, read_write> entries: array<vec2<u32>>;   // (src, end of its range)
@group(0) @binding(8) var<storage, read> busy: array<u32>;                  // src with items, of each block

var<workgroup> busy_before: atomic<u32>;
var<private> my_busy: u32;
var<private> first_entry: u32;
var<private> next_entry: u32;

fn clear_kept(local: u32) {
    if (local == 0u) {
        atomicStore(&busy_before, 0u);
    }
}

fn note(n: u32) {
    my_busy += u32(n != 0u);
}

// The entries of all earlier blocks, then those of the threads before this one.
fn begin_kept(local: u32, block: u32) {
    var sum = 0u;
    for (var other = local; other < min(block, block_count()); other += WG) {
        sum += busy[other];                                                 //: before
    }
    atomicAdd(&busy_before, sum);
    // The barriers of the scan stand between the adding and the reading.
    let upto = workgroup_scan(local, my_busy);                              //: scan
    first_entry = atomicLoad(&busy_before) + upto - my_busy;
    next_entry = first_entry;
}

fn rewind_kept() {
    next_entry = first_entry;
}

fn keep(src: u32, begin_of_range: u32, end_of_range: u32) -> u32 {
    if (end_of_range == begin_of_range) {
        return 0u;
    }
    let entry = next_entry;
    next_entry += 1u;
    entries[entry] = vec2<u32>(src, end_of_range);                          //: store
    return entry;
}

fn keep_four(four: u32, upto_each: vec4<u32>) {}
