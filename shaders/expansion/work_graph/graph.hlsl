// A work graph of two nodes. No WebGPU has them: the file is what the model's steps point at, as an application of
// Direct3D 12 would write it (shader model 6.8).
// Node 1: (1) a thread takes one src, (2) reserves its places and (3) a record, if it has items, (4) fills it, and
// (5) hands it to the system. Node 2: the system launches a grid of workgroups for every record.
struct Items {
    uint3 grid : SV_DispatchGrid;
    uint src;
    uint n;
    uint first;
};
StructuredBuffer<uint> counts : register(t0);
RWStructuredBuffer<uint> total : register(u0);
RWStructuredBuffer<uint> out_src : register(u1);
RWStructuredBuffer<uint> out_local : register(u2);
cbuffer Params : register(b0) { uint src_count; };

[Shader("node")]
[NodeIsProgramEntry]
[NodeLaunch("broadcasting")]
[NodeMaxDispatchGrid(65535, 1, 1)]
[NumThreads(WG, 1, 1)]
void Sources(DispatchNodeInputRecord<Items> whole, uint3 id : SV_DispatchThreadID,
             [MaxRecords(WG)] [NodeID("Work")] NodeOutput<Items> work) {
    uint n = id.x < src_count ? counts[id.x] : 0;                           //: load
    uint first = 0;
    if (n > 0) {
        InterlockedAdd(total[0], n, first);                                 //: reserve
    }
    ThreadNodeOutputRecords<Items> record = work.GetThreadNodeOutputRecords(n > 0 ? 1 : 0);   //: record
    if (n > 0) {
        uint groups = n / WG + (n % WG != 0 ? 1 : 0);
        uint high = max(1, groups / 65535 + (groups % 65535 != 0 ? 1 : 0));
        record.Get().grid = uint3(groups / high + (groups % high != 0 ? 1 : 0), high, 1);     //: write
        record.Get().src = id.x;
        record.Get().n = n;
        record.Get().first = first;
    }
    record.OutputComplete();
}

[Shader("node")]
[NodeLaunch("broadcasting")]                                                //: launch
[NodeMaxDispatchGrid(65535, 65535, 1)]
[NumThreads(WG, 1, 1)]
void Work(DispatchNodeInputRecord<Items> record, uint3 group : SV_GroupID, uint lane : SV_GroupIndex) {
    uint local = (group.y * record.Get().grid.x + group.x) * WG + lane;
    if (local >= record.Get().n) {                                          //: early-out
        return;
    }
    out_src[record.Get().first + local] = record.Get().src;                 //: work
    out_local[record.Get().first + local] = local;
}
