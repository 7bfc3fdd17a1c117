//#include lib/invocation.wgsl
//#include lib/threads.wgsl
// A read of the input: every thread adds up some 16-byte vectors. The store keeps the compiler from leaving the loads
// out; it happens for one sum in 2^32, and writes what is there already.
struct Read {
    vectors: u32,    // 16-byte vectors in the input
    threads: u32,
}
@group(0) @binding(0) var<uniform> params: Read;
@group(0) @binding(1) var<storage, read> counts: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> sink: array<u32, 12>;

@compute @workgroup_size(WG)
fn read_input(inv: Invocation) {
    let thread = thread_index(inv);
    if (thread >= params.threads) {
        return;
    }
    var sum = vec4<u32>();
    // One workgroup's threads read side by side; few rounds, because some drivers end long loops.
    for (var at = thread; at < params.vectors; at += params.threads) {
        sum += counts[at];
    }
    if (sum.x + sum.y + sum.z + sum.w == 0x9E3779B9u) {
        sink[0] = 1u;
    }
}
