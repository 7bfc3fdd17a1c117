// The end of pass 2 that writes down which thread worked on what. One row of two vec4 for every thread launched.
//#include <invocation>
struct Row {
    src: u32,
    local: u32,
    dst: u32,
    entry: u32,
    bucket: u32,
    subgroup: u32,
    lane: u32,
    launched: u32,
}
@group(1) @binding(0) var<storage, read_write> rows: array<Row>;
const NONE: u32 = 0xFFFFFFFFu;

fn begin(inv: Invocation, bucket: u32) {
    let row = group_index(inv) * WG + inv.local;
    if (row < arrayLength(&rows)) {
        rows[row] = Row(NONE, NONE, NONE, NONE, bucket, subgroup_of(inv), lane_of(inv), 1u);
    }
}

fn emit(inv: Invocation, src: u32, local: u32, dst: u32, entry: u32) {
    let row = group_index(inv) * WG + inv.local;
    if (row < arrayLength(&rows)) {
        rows[row].src = src;
        rows[row].local = local;
        rows[row].dst = dst;
        rows[row].entry = entry;
    }
}
