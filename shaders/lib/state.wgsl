// The words that pass 1 counts in and the set-up stage settles. Passes after the set-up read the same buffer as
// plain words.
struct State {
    total: atomic<u32>,      // dst items so far; after the set-up P2, or 0 when something failed
    failure: atomic<u32>,    // see FAILED_*
    required: atomic<u32>,   // P2, whatever the capacity
    max_n: atomic<u32>,      // largest N, where a strategy needs it
}
const FAILED_CAPACITY: u32 = 1u;   // required > capacity
const FAILED_OVERFLOW: u32 = 2u;   // P2 >= 2^32: `required` has wrapped
const FAILED_THREADS: u32 = 4u;    // the strategy would need 2^32 threads or more
const FAILED_LOOP: u32 = 8u;       // an N that is larger than the strategy loops for
const FAILED_SRC: u32 = 16u;       // more src than the expansion was prepared for
