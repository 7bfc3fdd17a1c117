//#include lib/invocation.wgsl
//#include lib/threads.wgsl
// Look-back: nobody has said anything yet. What the last run left would be believed.
@group(0) @binding(3) var<storage, read_write> spine: array<u32>;

@compute @workgroup_size(WG)
fn clear(inv: Invocation) {
    let word = thread_index(inv);
    if (word < arrayLength(&spine)) {
        spine[word] = 0u;                                                   //: clear
    }
}
