// What every pass of an expansion is told.
struct Params {
    src_count: u32,    // P1
    capacity: u32,     // dst items that the output holds
    align: u32,        // threads to which po2 buckets are rounded: a subgroup, or a workgroup where that is unknown
    src_base: u32,     // of a chunk of a larger expansion: its first src,
    local_base: u32,   // how many items of that src earlier chunks had,
    dst_base: u32,     // and how many items all earlier chunks had
}
@group(0) @binding(0) var<uniform> params: Params;
