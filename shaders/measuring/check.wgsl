//#include lib/invocation.wgsl
//#include lib/threads.wgsl
// Compares an expansion with its definition: the pairs (src, local) are every (s, j) with 0 <= j < N[s], each once.
// The place of a pair in the definition's own order is start[s] + j; each place may be met once, and there are as many
// items as places.
struct Check {
    src_count: u32,
    total: u32,
}
@group(0) @binding(0) var<uniform> params: Check;
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read> starts: array<u32>;
@group(0) @binding(3) var<storage, read> out_src: array<u32>;
@group(0) @binding(4) var<storage, read> out_local: array<u32>;
@group(0) @binding(5) var<storage, read_write> met: array<atomic<u32>>;       // a bit for each place
@group(0) @binding(6) var<storage, read_write> wrong: array<atomic<u32>, 12>;  // first word: items that are wrong

@compute @workgroup_size(WG)
fn check(inv: Invocation) {
    let item = thread_index(inv);
    if (item >= params.total) {
        return;
    }
    let src = out_src[item];
    let local = out_local[item];
    var good = src < params.src_count;
    if (good) {
        good = local < counts[src];
    }
    if (good) {
        let place = starts[src] + local;
        let bit = 1u << (place & 31u);
        good = (atomicOr(&met[place >> 5u], bit) & bit) == 0u;
    }
    if (!good) {
        atomicAdd(&wrong[0], 1u);
    }
}
