// Counters, the states of the digit rounds and their histograms, all in one buffer that one pass zeroes.
@group(0) @binding(3) var<storage, read_write> work: array<atomic<u32>>;
const COUNT_FOUND: u32 = 0u;    // items that the method itself put in `kept`, and those that had no room there
const COUNT_KEPT: u32 = 1u;     // items that a digit round has put in `kept`
const COUNT_LISTED: u32 = 2u;   // items in `list`
const COUNT_PICKED: u32 = 3u;   // places of interest that a method has listed
const BOUND: u32 = 4u;          // the pair that bounds what a method still looks at
const STATES: u32 = 16u;
const HISTOGRAMS: u32 = 128u;
const BINS: u32 = 2048u;
