//#include <source>
//#include topk/sorting.wgsl
// Workgroup select: a workgroup goes through its part of the items and keeps the best QUEUE of them, sorted, in workgroup
// memory. (1) Only what is before the k-th best so far is staged. (2) When the stage is full it is sorted, and (3) the
// better half of queue and stage is taken: the queue's end against the stage's beginning, then a bitonic merge.
@group(0) @binding(5) var<storage, read_write> runs: array<vec2<u32>>;
const SPAN: u32 = 512u;   // items of the stage: those of one round more fit always

var<workgroup> queue: array<vec2<u32>, QUEUE>;
var<workgroup> staged: atomic<u32>;
var<workgroup> shared_staged: u32;
var<workgroup> shared_limit: vec2<u32>;

fn merge_queue(local: u32) {
    for (var stride = QUEUE / 2u; stride > 0u; stride >>= 1u) {
        for (var i = local; i < QUEUE / 2u; i += WG) {
            let low = 2u * i - (i & (stride - 1u));
            let a = queue[low];
            let b = queue[low + stride];
            if (before(b, a)) {
                queue[low] = b;
                queue[low + stride] = a;
            }
        }
        workgroupBarrier();
    }
}

// Take the staged items into the queue. All threads call it.
fn flush(count: u32, local: u32) {
    for (var i = local; i < SPAN; i += WG) {
        if (i >= count) {
            sorted[i] = NO_ITEM;
        }
    }
    sort_all(local);                                                        //: sort
    for (var i = local; i < min(SPAN, QUEUE); i += WG) {
        let place = QUEUE - 1u - i;
        if (before(sorted[i], queue[place])) {
            queue[place] = sorted[i];                                       //: half
        }
    }
    workgroupBarrier();
    merge_queue(local);                                                     //: merge
    if (local == 0u) {
        atomicStore(&staged, 0u);
        shared_limit = queue[min(params.k, QUEUE) - 1u];
    }
    workgroupBarrier();
}

@compute @workgroup_size(WG)
fn choose(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) local: u32,
) {
    for (var i = local; i < QUEUE; i += WG) {
        queue[i] = NO_ITEM;
    }
    if (local == 0u) {
        atomicStore(&staged, 0u);
        shared_limit = NO_ITEM;
    }
    workgroupBarrier();
    let all = source_count();
    let part = all / groups.x + u32(all % groups.x != 0u);
    let end = min(all, part * group.x + part);
    for (var start = part * group.x; start < end; start += WG) {
        let i = start + local;
        if (i < end) {
            let item = source_at(i, all);
            if (before(item, shared_limit)) {
                sorted[atomicAdd(&staged, 1u)] = item;                      //: stage
            }
        }
        workgroupBarrier();
        if (local == 0u) {
            shared_staged = atomicLoad(&staged);
        }
        let count = workgroupUniformLoad(&shared_staged);
        if (count > SPAN - WG) {
            flush(count, local);
        }
    }
    workgroupBarrier();
    if (local == 0u) {
        shared_staged = atomicLoad(&staged);
    }
    flush(workgroupUniformLoad(&shared_staged), local);
    for (var i = local; i < QUEUE; i += WG) {
        runs[group.x * QUEUE + i] = queue[i];                               //: store
    }
}
