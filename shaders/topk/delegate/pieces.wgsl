// How the scores are cut into pieces: every piece_count-th quad is a piece's, so that neighbours lie in different pieces. Scores
// that come in order, or equal ones, are then spread over many pieces, and no piece is full of results.
const LANES: u32 = 32u;        // pieces of a workgroup of the first pass
