// Which digit a pass works on. Told in a buffer and not written into the shader, so that one compilation serves all.
struct Step {
    round: u32,          // its number, from 0
    word: u32,           // 0: the digit is part of the key, 1: of the index
    shift: u32,
    bits: u32,
    before_word: u32,    // the digit of the round before
    before_shift: u32,
    before_bits: u32,
    found: u32,          // 1: the method has put items into `kept` before the first round
}
@group(0) @binding(7) var<uniform> step: Step;

fn digit_of(item: vec2<u32>) -> u32 {
    return (select(item.x, item.y, step.word == 1u) >> step.shift) & ((1u << step.bits) - 1u);
}
