// One dimension of a dispatch ends at 65535 workgroups, and an indirect dispatch beyond it silently runs nothing.
const MAX_GROUPS: u32 = 65535u;

// (x, y, 1) with x * y >= groups, x and y at most 65535: y is the least that will do, then x the least for that y.
// Integer arithmetic only: a float square root loses a group at some sizes. Groups beyond `groups` are the caller's
// to ignore.
fn fold(groups: u32) -> vec3<u32> {
    let y = max(1u, groups / MAX_GROUPS + u32(groups % MAX_GROUPS != 0u));
    return vec3<u32>(groups / y + u32(groups % y != 0u), y, 1u);
}

// Workgroups of `size` threads for `threads` threads, folded; without the sum `threads + size - 1`, which can wrap.
fn fold_threads(threads: u32, size: u32) -> vec3<u32> {
    return fold(threads / size + u32(threads % size != 0u));
}
