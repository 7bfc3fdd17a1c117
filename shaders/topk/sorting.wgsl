// Bitonic sorting of pairs in workgroup memory (Batcher 1968): every step compares two items SPAN / 2 times, and the
// better one goes to the lower place. `sorted` holds SPAN pairs, a power of two.
var<workgroup> sorted: array<vec2<u32>, SPAN>;

fn compare(low: u32, high: u32) {
    let a = sorted[low];
    let b = sorted[high];
    if (before(b, a)) {
        sorted[low] = b;
        sorted[high] = a;
    }
}

// Items `stride` apart, for halving strides: orders a bitonic row in parts of 2 * first_stride.
fn merge_from(first_stride: u32, local: u32) {
    for (var stride = first_stride; stride > 0u; stride >>= 1u) {
        for (var i = local; i < SPAN / 2u; i += WG) {
            let low = 2u * i - (i & (stride - 1u));
            compare(low, low + stride);
        }
        workgroupBarrier();
    }
}

// Sorts all SPAN items, in parts of 2, 4, 8 ...: the mirrored step makes each two sorted parts bitonic.
fn sort_all(local: u32) {
    workgroupBarrier();
    for (var part = 2u; part <= SPAN; part <<= 1u) {
        for (var i = local; i < SPAN / 2u; i += WG) {
            let inside = i & (part / 2u - 1u);
            let low = 2u * i - inside;
            compare(low, low - inside + (part - 1u - inside));
        }
        workgroupBarrier();
        merge_from(part / 4u, local);
    }
}
