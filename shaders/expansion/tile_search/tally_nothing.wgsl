// What `reduce` counts besides the items: nothing.
fn begin_tally(local: u32) {}

fn tally(n: u32) {}

fn share_tally() {}

fn store_tally(block: u32) {}
