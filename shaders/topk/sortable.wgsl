// Scores as signed numbers of which the greatest is the best, in as few operations as can be: a pass that reads every score
// has time for about ten of them. Equal scores give equal numbers, both zeros too, and NaN, whatever its sign and
// payload, is at most least(): what begins there and looks for something greater never finds one.
fn sortable(word: u32, part: u32) -> i32 {
    let bits = bits_of(word, part);
    if (FORMAT == FLOAT32 || FORMAT == FLOAT16) {
        let sign = bitcast<i32>(bits) >> 31u;
        // All ones where the number is to be negated: -x = ~x + 1. The sum carries positive NaN over the greatest number
        // to the least ones.
        let negated = select(~sign, sign, LARGEST == 1u);
        let shift = select(0x007FFFFF, 0x03FFFFFF, FORMAT == FLOAT16);
        return (bitcast<i32>(bits & 0x7FFFFFFFu) ^ negated) - negated + shift;
    }
    let ordered = bitcast<i32>(select(bits ^ 0x80000000u, bits, FORMAT == INT32));
    return select(~ordered, ordered, LARGEST == 1u);
}

// One less than the number of the worst infinity; of integers, the number of the worst.
fn least() -> i32 {
    if (FORMAT == FLOAT32) {
        return -0x7F000002;
    }
    if (FORMAT == FLOAT16) {
        return -0x78000002;
    }
    return bitcast<i32>(0x80000000u);
}
