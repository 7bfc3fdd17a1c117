// What `place` keeps of the scanned counts: `ends[src]`, the end of every src's range. A src is its own name.
@group(0) @binding(3) var<storage, read_write> ends: array<vec4<u32>>;   // padded to whole fours

fn clear_kept(local: u32) {}

fn note(n: u32) {}

fn begin_kept(local: u32, block: u32) {}

fn rewind_kept() {}

fn keep(src: u32, begin_of_range: u32, end_of_range: u32) -> u32 {
    return src;
}

fn keep_four(four: u32, upto_each: vec4<u32>) {
    ends[four] = upto_each;                                                 //: store
}
