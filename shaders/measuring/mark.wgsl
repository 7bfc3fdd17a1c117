// Does nothing: a pass whose stamps enclose what is recorded between two of them.
@compute @workgroup_size(1)
fn mark() {}
