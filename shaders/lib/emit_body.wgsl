//#include lib/invocation.wgsl
//#include lib/params.wgsl
// The end of pass 2 that runs the caller's own work. The caller's buffers and its `fn work` follow.
fn in_dispatch(number: u32) {}

fn begin(inv: Invocation, bucket: u32) {
    touch();
}

// In a chunk of a larger expansion the caller still sees the indices of the whole.
fn emit(inv: Invocation, src: u32, local: u32, dst: u32, entry: u32) {
    let before = select(0u, params.local_base, src == 0u);
    work(src + params.src_base, local + before, dst + params.dst_base);
}

//#include <buffers>
//#include <body>
