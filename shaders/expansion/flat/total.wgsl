//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/params.wgsl
//#include lib/state.wgsl
// Pass 1 where nobody asks for dst: no src needs a base, so a workgroup adds its N up and does one atomic for all.
// (1) Take N. (2) Add up the workgroup's and find their largest. (3) Add the sum to P2 and keep the largest N.
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(6) var<storage, read_write> state: State;

var<workgroup> sum: atomic<u32>;
var<workgroup> widest: atomic<u32>;

@compute @workgroup_size(WG)
fn count(inv: Invocation) {
    if (inv.local == 0u) {
        atomicStore(&sum, 0u);
        atomicStore(&widest, 0u);
    }
    workgroupBarrier();
    let src = thread_index(inv);
    var wrapped = false;
    if (src < params.src_count) {
        let n = counts[src];
        // The value before was exact, so a wrap makes the sum smaller; here as below.
        let before = atomicAdd(&sum, n);
        wrapped = before + n < before;
        atomicMax(&widest, n);
    }
    workgroupBarrier();
    if (inv.local == 0u) {
        let all = atomicLoad(&sum);
        let before = atomicAdd(&state.total, all);
        wrapped = wrapped || before + all < before;
        atomicMax(&state.max_n, atomicLoad(&widest));
    }
    if (wrapped) {
        atomicOr(&state.failure, FAILED_OVERFLOW);
    }
}
