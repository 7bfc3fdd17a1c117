//#include lib/invocation.wgsl
//#include lib/threads.wgsl
//#include lib/settled.wgsl
//#include search/loadouts/pick.wgsl
// The score of every loadout that the expansion has spawned.
@group(0) @binding(0) var<storage, read> pool: array<u32>;
@group(0) @binding(1) var<storage, read> lists: array<u32>;
@group(0) @binding(2) var<storage, read> state: Settled;
@group(0) @binding(3) var<storage, read> out_src: array<u32>;
@group(0) @binding(4) var<storage, read> out_local: array<u32>;
@group(0) @binding(5) var<storage, read_write> scores: array<u32>;
//#include <buffers>
//#include <score>

@compute @workgroup_size(WG)
fn score_loadouts(inv: Invocation) {
    touch();
    let dst = thread_index(inv);
    if (dst >= state.total) {
        return;
    }
    var pick: array<u32, SLOTS>;
    lead(pool[2u * DEVICE] + out_src[dst], &pick);
    follow(out_local[dst], &pick);
    scores[dst] = bitcast<u32>(score(pick));                                //: score
}
