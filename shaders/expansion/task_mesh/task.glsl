#version 460
#extension GL_EXT_mesh_shader : require
// Task and mesh shaders, pass 1. No WebGPU runs this stage: the file is what the model's steps point at, as an
// application of Vulkan would write it (VK_EXT_mesh_shader).
// (1) A thread takes one src and counts the mesh workgroups that its items need. (2) The workgroup adds them up, so
// that every src knows where its own begin. (3) One atomic reserves the places of all its items. (4) The payload tells
// the mesh workgroups, and (5) one command launches them.
layout(constant_id = 0) const uint MESH_SIZE = 64u;
layout(local_size_x_id = 1) in;
layout(set = 0, binding = 0) uniform Params { uint src_count; };
layout(set = 0, binding = 1) readonly buffer Counts { uint counts[]; };
layout(set = 0, binding = 2) buffer State { uint total; };
struct Payload {
    uint first_src;
    uint ends[128];     // of the mesh workgroups of every src
    uint n[128];
    uint places[128];   // of the first item of every src
};
taskPayloadSharedEXT Payload payload;
shared uvec2 sums[128];
shared uint base;

void main() {
    uint lane = gl_LocalInvocationIndex;
    uint src = gl_WorkGroupID.x * gl_WorkGroupSize.x + lane;
    uint n = src < src_count ? counts[src] : 0u;                            //: load
    sums[lane] = uvec2(n / MESH_SIZE + uint(n % MESH_SIZE != 0u), n);
    barrier();
    for (uint reach = 1u; reach < gl_WorkGroupSize.x; reach *= 2u) {
        uvec2 before = lane >= reach ? sums[lane - reach] : uvec2(0u);      //: scan
        barrier();
        sums[lane] += before;
        barrier();
    }
    uint last = gl_WorkGroupSize.x - 1u;
    if (lane == 0u) {
        base = atomicAdd(total, sums[last].y);                              //: reserve
        payload.first_src = src;
    }
    barrier();
    payload.ends[lane] = sums[lane].x;                                      //: write
    payload.n[lane] = n;
    payload.places[lane] = base + sums[lane].y - n;
    barrier();
    // No dimension takes more than 65535.
    uint groups = sums[last].x;
    uint high = max(1u, groups / 65535u + uint(groups % 65535u != 0u));
    EmitMeshTasksEXT(groups / high + uint(groups % high != 0u), high, 1u);  //: emit
}
