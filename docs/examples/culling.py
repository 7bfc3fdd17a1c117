"""Culling on the GPU: pass 1 culls meshes by their bounding spheres, pass 2 culls the meshlets of those that are left.

The program owns the device and the command encoder. Each frame it writes six planes; in one submission the GPU gives
every mesh that the camera cannot see N = 0 and every other one its number of meshlets, expands meshes into meshlets,
and tests each meshlet's own sphere. Nothing is read back in between, and the visible set comes back as one bit for
each meshlet.

    python docs/examples/culling.py [STRATEGY ...]
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass

import numpy as np
import wgpu

import expandlab as xl

MESHES = 100_000
# Centres and radii are whole eighths of a metre and plane normals whole 512ths, so every product and every sum below
# has at most 24 bits: float32 is exact whatever the order or the fusing of its operations, and NumPy finds the same.
GRID, NORMAL = 8.0, 512.0
SIDE, HEIGHT = 200.0, 24.0

# A sphere is out when it lies behind one plane: dot(normal, centre) + offset < -radius.
CULL_MESHES = """
@group(0) @binding(0) var<storage, read> planes: array<vec4<f32>, 6>;
@group(0) @binding(1) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> meshlets_of: array<u32>;
@group(0) @binding(3) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(64)
fn cull_meshes(@builtin(global_invocation_id) id: vec3<u32>) {
    let mesh = id.x;
    if (mesh >= arrayLength(&counts)) {
        return;
    }
    var inside = true;
    for (var i = 0u; i < 6u; i++) {
        inside = inside && dot(planes[i].xyz, spheres[mesh].xyz) + planes[i].w >= -spheres[mesh].w;
    }
    counts[mesh] = select(0u, meshlets_of[mesh], inside);
}
"""
# The body has three buffers at most: the planes stand in front of the spheres.
CULL_MESHLETS = """
fn work(mesh: u32, meshlet: u32, dst: u32) {
    let id = first_of[mesh] + meshlet;
    let at = 24u + 4u * id;
    let centre = vec3<f32>(bounds[at], bounds[at + 1u], bounds[at + 2u]);
    var inside = true;
    for (var i = 0u; i < 24u; i += 4u) {
        let distance = dot(vec3<f32>(bounds[i], bounds[i + 1u], bounds[i + 2u]), centre) + bounds[i + 3u];
        inside = inside && distance >= -bounds[at + 3u];
    }
    if (inside) {
        atomicOr(&visible[id / 32u], 1u << (id % 32u));
    }
}
"""


@dataclass(frozen=True)
class Scene:
    """Meshes and their meshlets: spheres (x, y, z, radius) float32, and how many meshlets each mesh has."""

    meshes: np.ndarray
    meshlets_of: np.ndarray
    meshlets: np.ndarray

    @property
    def first_of(self) -> np.ndarray:
        """The first meshlet of every mesh, uint32."""
        return (np.cumsum(self.meshlets_of, dtype=np.uint32) - self.meshlets_of).astype(np.uint32)

    def part(self, begin: int, end: int) -> Scene:
        """Meshes `begin` .. `end` - 1 and their meshlets."""
        first = int(self.meshlets_of[:begin].sum())
        count = self.meshlets_of[begin:end]
        return Scene(self.meshes[begin:end], count, self.meshlets[first : first + int(count.sum())])


def _snap(values: np.ndarray, steps: float) -> np.ndarray:
    return np.round(values * steps) / steps


def _on_grid(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    return np.column_stack([_snap(centres, GRID), _snap(radii, GRID)]).astype(np.float32)


def make_scene(meshes: int = MESHES, seed: int = 0) -> Scene:
    """A town: meshes all over a square, larger ones with more meshlets, every meshlet inside its mesh's sphere."""
    rng = np.random.default_rng(seed)
    meshlets_of = xl.counts.make("meshlets", meshes, mean=8.0, max_n=512, seed=seed)
    radius = np.minimum(2.0 + np.sqrt(meshlets_of), 20.0)
    place = rng.uniform((-SIDE, 0.0, -SIDE), (SIDE, HEIGHT, SIDE), (meshes, 3))
    owner = np.repeat(np.arange(meshes), meshlets_of)
    offset = rng.uniform(-0.28, 0.28, (len(owner), 3)) * radius[owner, None]
    inner = rng.uniform(0.1, 0.4, len(owner)) * radius[owner]
    return Scene(_on_grid(place, radius), meshlets_of, _on_grid(_snap(place, GRID)[owner] + offset, inner))


def camera(position: tuple[float, float, float], heading: float, half_angle: float = 0.6, far: float = 150.0):
    """Six planes (normal, offset) float32, (6, 4), of a frustum that looks along `heading` (radians, in the ground)."""
    forward = np.array([np.sin(heading), 0.0, np.cos(heading)])
    right, up = np.array([forward[2], 0.0, -forward[0]]), np.array([0.0, 1.0, 0.0])
    c, s = np.cos(half_angle), np.sin(half_angle)
    normals = np.array([forward, -forward, s * forward + c * right, s * forward - c * right,
                        s * forward + c * up, s * forward - c * up])  # fmt: skip
    normals, eye = _snap(normals, NORMAL), _snap(np.array(position), GRID)
    offsets = -normals @ eye + np.array([-1.0, far, 0.0, 0.0, 0.0, 0.0])
    return np.column_stack([normals, offsets]).astype(np.float32)


def visible_in_numpy(scene: Scene, planes: np.ndarray) -> np.ndarray:
    """Numbers of the visible meshlets, by testing every one in float64: no pass 1, no expansion."""
    spheres = scene.meshlets.astype(np.float64)
    distances = spheres[:, :3] @ planes[:, :3].T.astype(np.float64) + planes[:, 3]
    return np.flatnonzero(np.all(distances >= -spheres[:, 3:], axis=1))


class Culling:
    """Both passes on a `wgpu.GPUDevice` of the program's own, for one scene."""

    def __init__(self, gpu: wgpu.GPUDevice, scene: Scene, strategy: str = "po2_merged"):
        self.gpu, self.scene = gpu, scene
        meshes, meshlets = len(scene.meshes), len(scene.meshlets)
        self.planes = gpu.create_buffer(size=96, usage="STORAGE|COPY_DST")
        self.counts = gpu.create_buffer(size=4 * meshes, usage="STORAGE")
        self.words = -(-meshlets // 32)
        self.expander = xl.Expander(
            strategy, max_src=meshes, max_dst=meshlets, device=xl.adopt(gpu), body=CULL_MESHLETS,
            buffers={
                "bounds": xl.read_only(np.concatenate([np.zeros(24, np.float32), scene.meshlets.ravel()])),
                "first_of": xl.read_only(scene.first_of),
                "visible": xl.atomic(np.zeros(self.words, np.uint32)),
            },
        )  # fmt: skip
        module = gpu.create_shader_module(code=CULL_MESHES)
        self.pipeline = gpu.create_compute_pipeline(
            layout="auto", compute={"module": module, "entry_point": "cull_meshes"}
        )
        inputs = [gpu.create_buffer_with_data(data=data, usage="STORAGE") for data in (scene.meshes, scene.meshlets_of)]
        self.bindings = gpu.create_bind_group(
            layout=self.pipeline.get_bind_group_layout(0),
            entries=[
                {"binding": index, "resource": {"buffer": buffer}}
                for index, buffer in enumerate([self.planes, *inputs, self.counts])
            ],
        )

    def frame(self, planes: np.ndarray) -> tuple[np.ndarray, int]:
        """Numbers of the visible meshlets, ascending, and how many pass 2 had to test."""
        for buffer in (self.planes, self.expander.buffers["bounds"]):
            self.gpu.queue.write_buffer(buffer, 0, planes)
        encoder = self.gpu.create_command_encoder()
        encoder.clear_buffer(self.expander.buffers["visible"])
        first = encoder.begin_compute_pass()
        first.set_pipeline(self.pipeline)
        first.set_bind_group(0, self.bindings)
        first.dispatch_workgroups(-(-len(self.scene.meshes) // 64))
        first.end()
        self.expander.record(encoder, self.counts, len(self.scene.meshes))
        self.gpu.queue.submit([encoder.finish()])
        total, failure = np.frombuffer(self.gpu.queue.read_buffer(self.expander.total_buffer), np.uint32)[:2]
        if failure:
            raise SystemExit(f"the expansion failed with word {failure}")
        bits = np.frombuffer(self.gpu.queue.read_buffer(self.expander.buffers["visible"]), np.uint8)
        return np.flatnonzero(np.unpackbits(bits, bitorder="little")), int(total)


def cull(gpu: wgpu.GPUDevice, scene: Scene, strategy: str, cameras: list[np.ndarray]) -> list[tuple[np.ndarray, int]]:
    """A frame for each camera. A strategy that caps its number of src gets the scene in parts."""
    step = xl.strategies()[strategy].max_src or len(scene.meshes)
    visible: list[list[np.ndarray]] = [[] for _ in cameras]
    tested, first = [0] * len(cameras), 0
    for begin in range(0, len(scene.meshes), step):
        part = Culling(gpu, scene.part(begin, begin + step), strategy)
        for index, planes in enumerate(cameras):
            found, count = part.frame(planes)
            visible[index].append(found + first)
            tested[index] += count
        first += len(part.scene.meshlets)
        part.expander.close()
    return [(np.concatenate(found), count) for found, count in zip(visible, tested, strict=True)]


CAMERAS = [camera((0.0, 2.0, 0.0), 0.3), camera((-180.0, 12.0, -180.0), 0.8), camera((150.0, 60.0, 20.0), -1.7)]


def runnable(device: xl.Device) -> list[str]:
    """Names of the strategies that the device can run."""
    return [n for n, s in xl.strategies().items() if not s.modelled and set(s.needs) <= set(device.features)]


def main(names: list[str]) -> None:
    """Cull the scene with each strategy and compare every frame with NumPy."""
    device = xl.device()
    scene = make_scene()
    expected = [visible_in_numpy(scene, planes) for planes in CAMERAS]
    print(f"{len(scene.meshes):,} meshes, {len(scene.meshlets):,} meshlets on {device.info.name}")
    for name in names or [
        n for n, s in xl.strategies().items() if set(s.needs) <= set(device.features) and not s.modelled
    ]:
        start = time.perf_counter()
        for found, wanted in zip(cull(device.gpu, scene, name, CAMERAS), expected, strict=True):
            if not np.array_equal(found[0], wanted):
                raise SystemExit(f"{name}: {len(found[0])} visible meshlets, expected {len(wanted)}")
            print(f"{name}: {found[1]:,} meshlets tested, {len(wanted):,} visible")
        print(f"{name}: {time.perf_counter() - start:.2f} s with all set-up")


if __name__ == "__main__":
    main(sys.argv[1:])
