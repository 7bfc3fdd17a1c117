// Where the threads and the items of each bucket begin in one merged dispatch: the first thread of every bucket and
// the end of all, then the first item of every bucket and the end of all.
const THREADS: u32 = 0u;
const ITEMS: u32 = 33u;
const RANGES: u32 = 66u;
