// The state after the set-up stage.
struct Settled {
    total: u32,
    failure: u32,
    required: u32,
    max_n: u32,
}
