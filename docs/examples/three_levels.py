"""Mesh -> meshlet -> triangle in a plain wgpu-py program: two expansions chained on the GPU, nothing read back between.

The program owns the device and the command encoder. Each frame it writes how many meshlets every mesh has, and in one
submission the GPU expands meshes into meshlets, looks up how many triangles each meshlet has, expands meshlets into
triangles, and counts the triangles of every mesh.

    python docs/examples/three_levels.py [FRAMES]
"""

from __future__ import annotations

import sys

import numpy as np
import wgpu

import expandlab as xl

MESHES, MESHLETS, TRIANGLES = 400, 8_000, 400_000
TRIANGLES_PER_MESHLET = 124

# Every meshlet is full but the last of its mesh, whose size stands in `last`.
MESHLET = f"""
fn work(mesh: u32, meshlet: u32, dst: u32) {{
    let is_last = meshlet + 1u == meshlets[mesh];
    triangles_of[dst] = select({TRIANGLES_PER_MESHLET}u, meshlets[mesh] % {TRIANGLES_PER_MESHLET}u + 1u, is_last);
    mesh_of[dst] = mesh;
}}
"""
# A real renderer would cull or draw here; counting shows that every triangle came by exactly once.
TRIANGLE = """
fn work(meshlet: u32, triangle: u32, dst: u32) {
    atomicAdd(&drawn[0], 1u);
    atomicMax(&largest[0], triangle + 1u);
}
"""


class ThreeLevels:
    """The chain on a `wgpu.GPUDevice` of the program's own."""

    def __init__(self, gpu: wgpu.GPUDevice, strategy: str = "po2_merged"):
        self.gpu = gpu
        device = xl.adopt(gpu)
        self.meshlets_of = gpu.create_buffer(size=4 * MESHES, usage="STORAGE|COPY_DST")
        nothing = np.zeros(MESHLETS, np.uint32)
        self.meshlets = xl.Expander(
            strategy, max_src=MESHES, max_dst=MESHLETS, device=device, body=MESHLET,
            buffers={"meshlets": np.zeros(MESHES, np.uint32), "triangles_of": nothing, "mesh_of": nothing},
        )  # fmt: skip
        one = np.zeros(1, np.uint32)
        self.triangles = xl.Expander(
            strategy, max_src=MESHLETS, max_dst=TRIANGLES, device=device, body=TRIANGLE,
            buffers={"drawn": xl.atomic(one), "largest": xl.atomic(one)},
        )  # fmt: skip
        self.result = gpu.create_buffer(size=16, usage="COPY_DST|COPY_SRC")

    def frame(self, meshlets_of: np.ndarray) -> tuple[int, int]:
        """Run one frame; returns (triangles, triangles of the largest meshlet). The only readback is these 8 bytes."""
        self.gpu.queue.write_buffer(self.meshlets_of, 0, meshlets_of)
        self.gpu.queue.write_buffer(self.meshlets.buffers["meshlets"], 0, meshlets_of)
        encoder = self.gpu.create_command_encoder()
        for name in ("drawn", "largest"):
            encoder.clear_buffer(self.triangles.buffers[name])
        self.meshlets.record(encoder, self.meshlets_of, len(meshlets_of))
        # How many meshlets there are is known to the GPU alone.
        self.triangles.record(encoder, self.meshlets.buffers["triangles_of"], (self.meshlets.total_buffer, 0))
        encoder.copy_buffer_to_buffer(self.triangles.buffers["drawn"], 0, self.result, 0, 4)
        encoder.copy_buffer_to_buffer(self.triangles.buffers["largest"], 0, self.result, 4, 4)
        self.gpu.queue.submit([encoder.finish()])
        drawn, largest = np.frombuffer(self.gpu.queue.read_buffer(self.result), np.uint32)[:2]
        return int(drawn), int(largest)


def expected(meshlets_of: np.ndarray) -> tuple[int, int]:
    """The same in NumPy, from the definition."""
    n = meshlets_of.astype(np.int64)
    last = n % TRIANGLES_PER_MESHLET + 1
    triangles = np.where(n > 0, (n - 1) * TRIANGLES_PER_MESHLET + last, 0)
    largest = np.where(n > 1, TRIANGLES_PER_MESHLET, np.where(n == 1, last, 0))
    return int(triangles.sum()), int(largest.max(initial=0))


def main(frames: int) -> None:
    """Run some frames with changing scenes and check every one."""
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    gpu = adapter.request_device_sync()
    levels = ThreeLevels(gpu)
    for frame in range(frames):
        scene = xl.counts.make("meshlets", MESHES, mean=4.0 + frame % 5, max_n=20, seed=frame)
        found = levels.frame(scene)
        if found != expected(scene):
            raise SystemExit(f"frame {frame}: {found}, expected {expected(scene)}")
    print(f"{frames} frames on {adapter.info['device']}, {found[0]:,} triangles in the last one")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10)
