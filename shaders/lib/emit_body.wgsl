//#include lib/invocation.wgsl
// The end of pass 2 that runs the caller's own work. The caller's buffers and its `fn work` follow.
fn begin(inv: Invocation, bucket: u32) {}

fn emit(inv: Invocation, src: u32, local: u32, dst: u32, entry: u32) {
    work(src, local, dst);
}

//#include <buffers>
//#include <body>
