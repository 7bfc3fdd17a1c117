// What every block tells the blocks after it: first the sum of its own counts, then the sum of all counts up to its
// end. Atomics order nothing but themselves, so a flag beside a value could be seen before the value. Here each word
// carries its own flag: 16 bits of the value, and what it is. A reader believes two words whose flags agree.
// A flag only grows (atomicMax), so a late writer of the smaller one changes nothing.
const AGGREGATE: u32 = 1u << 16u;
const INCLUSIVE: u32 = 2u << 16u;
const VALUE: u32 = 0xFFFFu;

struct Spine {
    ticket: atomic<u32>,
    words: array<atomic<u32>>,   // low and high half for each block
}
