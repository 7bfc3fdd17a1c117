//#include <emit>
// Draws, pass 2: a vertex is a thread. Its draw's first instance is its src, its index is its local index.
const NO_BUCKET: u32 = 0xFFFFFFFFu;
@group(0) @binding(2) var<storage, read> places: array<vec2<u32>>;

@vertex
fn vertex(@builtin(vertex_index) local: u32, @builtin(instance_index) src: u32) -> @builtin(position) vec4<f32> {
    // A vertex has no workgroup; WG of them in a row stand for one.
    let inv = Invocation(vec3<u32>(local / WG, 0u, 0u), vec3<u32>(1u, 1u, 1u), local % WG);
    in_dispatch(src);
    begin(inv, NO_BUCKET);
    let place = places[src];                                                //: place
    emit(inv, src, local, place.x + local, place.y);                        //: work
    // Beyond the clip volume: there is nothing to rasterise.
    return vec4<f32>(2.0, 2.0, 2.0, 1.0);                                   //: clip
}
