//#include topk/values.wgsl
//#include topk/delegate/pieces.wgsl
// Delegates, first pass, the only one that reads all scores: the best key of every piece.
// (1) A team reads its piece, four quads at a time for each thread. (2) The team's threads compare.
@group(0) @binding(4) var<storage, read_write> best: array<u32>;
const TEAMS: u32 = WG / TEAM;

var<workgroup> team_best: array<u32, WG>;

fn best_in(quad: u32, items: u32) -> u32 {
    let words = load_quad(quad, items);
    var found = 0xFFFFFFFFu;
    for (var part = 0u; part < PER_WORD; part++) {
        found = min(found, min(
            min(item_of(words.x, 4u * quad, part, items).x, item_of(words.y, 4u * quad + 1u, part, items).x),
            min(item_of(words.z, 4u * quad + 2u, part, items).x, item_of(words.w, 4u * quad + 3u, part, items).x),
        ));
    }
    return found;
}

@compute @workgroup_size(WG)
fn maxima(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    let items = item_count();
    let quads = quads_of(items);
    let length = piece_length(quads);
    let pieces = piece_count(quads, length);
    let lane = local % TEAM;
    for (var first = group.x * TEAMS; first < pieces; first += groups.x * TEAMS) {
        let piece = first + local / TEAM;
        var mine = 0xFFFFFFFFu;
        if (piece < pieces) {
            let start = piece * length + lane;
            if (length >= 4u * TEAM) {
                for (var i = 0u; i < length; i += 4u * TEAM) {
                    let a = best_in(start + i, items);                      //: load
                    let b = best_in(start + i + TEAM, items);
                    let c = best_in(start + i + 2u * TEAM, items);
                    let d = best_in(start + i + 3u * TEAM, items);
                    mine = min(min(mine, min(a, b)), min(c, d));
                }
            } else {
                for (var i = 0u; i < length; i += TEAM) {
                    mine = min(mine, best_in(start + i, items));
                }
            }
        }
        workgroupBarrier();
        team_best[local] = mine;
        workgroupBarrier();
        for (var half = TEAM / 2u; half > 0u; half >>= 1u) {
            if (lane < half) {
                team_best[local] = min(team_best[local], team_best[local + half]);   //: compare
            }
            workgroupBarrier();
        }
        if (lane == 0u && piece < pieces) {
            best[piece] = team_best[local];                                 //: store
        }
    }
}
