// The end of pass 2 that writes down which thread worked on what: one row for every thread launched, or for every
// step of a thread that handles several items. Rows come in the order in which threads begin them; the host sorts.
//#include <invocation>
struct Row {
    src: u32,
    local: u32,
    dst: u32,
    entry: u32,
    bucket: u32,
    subgroup: u32,
    lane: u32,
    workgroup: u32,
    thread: u32,    // index in the workgroup
    step: u32,
    dispatch: u32,
    begun: u32,
}
@group(1) @binding(0) var<storage, read_write> rows: array<Row>;
@group(1) @binding(1) var<storage, read_write> rows_used: atomic<u32>;
const NONE: u32 = 0xFFFFFFFFu;

var<private> my_row: u32;
var<private> my_step: u32;
var<private> my_dispatch: u32 = DISPATCH;

// For the dispatches of one pass that are launched one by one: which one this is.
fn in_dispatch(number: u32) {
    my_dispatch = number;
}

fn begin(inv: Invocation, bucket: u32) {
    my_row = atomicAdd(&rows_used, 1u);
    if (my_row < arrayLength(&rows)) {
        let workgroup = inv.group.y * inv.groups.x + inv.group.x;
        rows[my_row] = Row(
            NONE, NONE, NONE, NONE, bucket, subgroup_of(inv), lane_of(inv), workgroup, inv.local, my_step, my_dispatch, 1u
        );
    }
    my_step += 1u;
}

fn emit(inv: Invocation, src: u32, local: u32, dst: u32, entry: u32) {
    if (my_row < arrayLength(&rows)) {
        rows[my_row].src = src;
        rows[my_row].local = local;
        rows[my_row].dst = dst;
        rows[my_row].entry = entry;
    }
}
