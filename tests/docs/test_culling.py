"""The culling example: the same visible meshlets as a test of every meshlet in whole numbers, with every strategy."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

import expandlab as xl

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "culling.py"


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("culling", EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    # A dataclass looks its module up.
    sys.modules["culling"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["culling"]


@pytest.fixture(scope="module")
def scene(example):
    return example.make_scene()


def visible(example, scene, planes):
    """Numbers of the meshlets that no plane has behind it, in integers: eighths of a metre times 512ths."""
    spheres = np.round(scene.meshlets.astype(np.float64) * example.GRID).astype(np.int64)
    normals = np.round(planes[:, :3].astype(np.float64) * example.NORMAL).astype(np.int64)
    offsets = np.round(planes[:, 3].astype(np.float64) * example.GRID * example.NORMAL).astype(np.int64)
    radii = spheres[:, 3] * int(example.NORMAL)
    inside = [spheres[:, :3] @ normal + offset >= -radii for normal, offset in zip(normals, offsets, strict=True)]
    return np.flatnonzero(np.all(inside, axis=0))


def test_the_scene_is_exact_in_single_precision(example, scene):
    assert len(scene.meshes) >= 100_000
    numbers = np.concatenate([scene.meshes, scene.meshlets]).astype(np.float64) * example.GRID
    assert np.array_equal(numbers, np.round(numbers))
    largest = np.abs(scene.meshlets[:, :3]).max() * example.GRID * example.NORMAL * 3
    offset = max(np.abs(planes[:, 3]).max() for planes in example.CAMERAS) * example.GRID * example.NORMAL
    assert largest + offset + scene.meshlets[:, 3].max() * example.GRID * example.NORMAL < 2**24


@pytest.mark.gpu
@pytest.mark.parametrize("name", [name for name, item in xl.strategies().items() if not item.modelled])
def test_every_strategy_leaves_the_visible_meshlets(example, scene, lavapipe, name):
    if missing := set(xl.strategies()[name].needs) - set(lavapipe.features):
        pytest.skip(f"no {', '.join(missing)}")
    frames = example.cull(lavapipe.gpu, scene, name, example.CAMERAS)
    for planes, (found, tested) in zip(example.CAMERAS, frames, strict=True):
        expected = visible(example, scene, planes)
        assert np.array_equal(found, expected)
        # Pass 1 has culled most meshes, and pass 2 some meshlets of those that were left.
        assert 0 < len(expected) < tested < len(scene.meshlets) / 4


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["append", "po2_merged", "tile_search"])
def test_a_smaller_scene_on_every_device(example, gpu, name):
    scene = example.make_scene(2_000, seed=1)
    for planes, (found, _) in zip(example.CAMERAS, example.cull(gpu.gpu, scene, name, example.CAMERAS), strict=True):
        assert np.array_equal(found, visible(example, scene, planes))
