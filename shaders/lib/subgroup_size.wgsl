// Counts the lanes of a subgroup by adding one for each: adapters do not report the width that a kernel gets.
@group(0) @binding(0) var<storage, read_write> size: atomic<u32>;

@compute @workgroup_size(256)
fn measure() {
    atomicMax(&size, subgroupAdd(1u));
}
