// How the scores are cut into pieces of neighbouring quads: a power of two of them, at least one for each of the TEAM
// threads that read a piece together, and large enough that there are not many more pieces than wanted.
const TEAM: u32 = 32u;
const FEWEST: u32 = 4096u;   // pieces, so that the whole device has something to read
const FOR_EACH: u32 = 8u;    // pieces for each of the k: most of them then hold no result

fn piece_length(quads: u32) -> u32 {
    let wanted_pieces = max(FEWEST, FOR_EACH * min(params.k, 1u << 24u));
    var length = TEAM;
    while (2u * length <= quads / wanted_pieces) {
        length *= 2u;
    }
    return length;
}

fn piece_count(quads: u32, length: u32) -> u32 {
    return quads / length + u32(quads % length != 0u);
}
