// Order-preserving keys: the better of two scores has the smaller u32, whatever the format and the direction.
// FORMAT, PER_WORD (scores in a word) and LARGEST come from the host. Scores are bound as words and compared as integers:
// WGSL may assume that NaN and infinity do not exist, and may flush subnormals.
const FLOAT32: u32 = 0u;
const FLOAT16: u32 = 1u;   // two to a word, the lower half first; the key stands in the upper half
const INT32: u32 = 2u;
const UINT32: u32 = 3u;

// The bits of one score of a word.
fn bits_of(word: u32, part: u32) -> u32 {
    if (FORMAT == FLOAT16) {
        return select(word << 16u, word & 0xFFFF0000u, part == 1u);
    }
    return word;
}

// Ascending order of the numbers: flip all bits of a negative one, set the sign of the others. Both zeros are one.
fn ordered_float(bits: u32, used: u32) -> u32 {
    if ((bits & 0x7FFFFFFFu) == 0u) {
        return 0x80000000u;
    }
    return select(bits | 0x80000000u, ~bits & used, (bits >> 31u) == 1u);
}

fn key_of(bits: u32) -> u32 {
    var ordered = bits;
    var used = 0xFFFFFFFFu;
    if (FORMAT == FLOAT32) {
        // NaN of any sign and payload is the worst in both directions.
        if ((bits & 0x7FFFFFFFu) > 0x7F800000u) {
            return 0xFFFFFFFFu;
        }
        ordered = ordered_float(bits, used);
    } else if (FORMAT == FLOAT16) {
        used = 0xFFFF0000u;
        if ((bits & 0x7FFFFFFFu) > 0x7C000000u) {
            return used;
        }
        ordered = ordered_float(bits, used);
    } else if (FORMAT == INT32) {
        ordered = bits ^ 0x80000000u;
    }
    return select(ordered, ~ordered & used, LARGEST == 1u);
}
