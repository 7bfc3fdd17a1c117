// What every pass of an expansion is told.
struct Params {
    src_count: u32,   // P1
    capacity: u32,    // dst items that the output holds
    align: u32,       // threads to which po2 buckets are rounded: a subgroup, or a workgroup where that is unknown
    spare: u32,
}
@group(0) @binding(0) var<uniform> params: Params;
