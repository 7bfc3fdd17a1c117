// Room at the end of a shared list: each thread says how many places it wants; one global atomic for the workgroup.
// All threads of the workgroup call it together.
var<workgroup> append_wanted: atomic<u32>;
var<workgroup> append_first: u32;

fn reserve(counter: u32, local: u32, wanted: u32) -> u32 {
    if (local == 0u) {
        atomicStore(&append_wanted, 0u);
    }
    workgroupBarrier();
    var place = 0u;
    if (wanted != 0u) {
        place = atomicAdd(&append_wanted, wanted);
    }
    workgroupBarrier();
    if (local == 0u) {
        let all = atomicLoad(&append_wanted);
        append_first = 0u;
        if (all != 0u) {
            append_first = atomicAdd(&work[counter], all);
        }
    }
    workgroupBarrier();
    return append_first + place;
}
