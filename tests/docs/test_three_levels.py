"""The chained example: right in every frame, and no buffer, pipeline or bind group more after many frames."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import wgpu

import expandlab as xl

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "three_levels.py"


@pytest.fixture
def example():
    spec = importlib.util.spec_from_file_location("three_levels", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", ["po2_merged", "prefix_search", "append"])
def test_every_frame_has_the_triangles_of_the_definition(example, gpu, strategy):
    levels = example.ThreeLevels(gpu.gpu, strategy)
    for frame in range(5):
        scene = xl.counts.make("meshlets", example.MESHES, mean=3.0 + frame, max_n=20, seed=frame)
        triangles = np.concatenate([[124] * (n - 1) + [n % 124 + 1] for n in scene.tolist() if n])
        assert levels.frame(scene) == (triangles.sum(), triangles.max())
    assert levels.frame(np.zeros(example.MESHES, np.uint32)) == (0, 0)


@pytest.mark.gpu
def test_frames_leave_nothing_behind(example, lavapipe):
    levels = example.ThreeLevels(lavapipe.gpu)

    def objects():
        counts = wgpu.diagnostics.object_counts.get_dict()
        return {name: row["count"] for name, row in counts.items() if "count" in row}

    scenes = [xl.counts.make("meshlets", example.MESHES, mean=4.0, max_n=20, seed=seed) for seed in range(4)]
    levels.frame(scenes[0]), levels.frame(scenes[1])
    before = objects()
    for frame in range(100):
        scene = scenes[frame % 4]
        assert levels.frame(scene) == example.expected(scene)
    assert objects() == before
