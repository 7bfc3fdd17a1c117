// What `reduce` counts besides the items: the src that have some.
@group(0) @binding(4) var<storage, read_write> busy: array<u32>;

var<workgroup> busy_sum: atomic<u32>;
var<private> my_busy: u32;

fn begin_tally(local: u32) {
    if (local == 0u) {
        atomicStore(&busy_sum, 0u);
    }
}

fn tally(n: u32) {
    my_busy += u32(n != 0u);
}

// A barrier stands between the beginning and this: the scan of the items.
fn share_tally() {
    atomicAdd(&busy_sum, my_busy);                                          //: busy
}

fn store_tally(block: u32) {
    busy[block] = atomicLoad(&busy_sum);
}
