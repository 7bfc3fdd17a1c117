#version 460
#extension GL_EXT_mesh_shader : require
// Task and mesh shaders, pass 2: a mesh workgroup works for one src, as for one piece of a mesh.
layout(constant_id = 0) const uint TASK_SIZE = 64u;
layout(local_size_x_id = 1) in;
layout(triangles, max_vertices = 3, max_primitives = 1) out;
struct Payload {
    uint first_src;
    uint ends[128];
    uint n[128];
    uint places[128];
};
taskPayloadSharedEXT Payload payload;
layout(set = 1, binding = 0) writeonly buffer OutSrc { uint out_src[]; };
layout(set = 1, binding = 1) writeonly buffer OutLocal { uint out_local[]; };

void main() {
    SetMeshOutputsEXT(0u, 0u);
    uint group = gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x;
    uint low = 0u;
    for (uint high = TASK_SIZE; low < high;) {
        uint middle = (low + high) / 2u;
        if (payload.ends[middle] <= group) {                                //: search
            low = middle + 1u;
        } else {
            high = middle;
        }
    }
    if (low >= TASK_SIZE) {
        return;
    }
    uint before = low > 0u ? payload.ends[low - 1u] : 0u;
    uint local = (group - before) * gl_WorkGroupSize.x + gl_LocalInvocationIndex;
    if (local >= payload.n[low]) {                                          //: early-out
        return;
    }
    uint dst = payload.places[low] + local;
    out_src[dst] = payload.first_src + low;                                 //: work
    out_local[dst] = local;
}
