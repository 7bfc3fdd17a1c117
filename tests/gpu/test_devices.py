"""Listing, choosing, opening and adopting devices."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from drivers import driver

import expandlab as xl
from expandlab.gpu import adapters
from expandlab.gpu.limits import DEFAULT_LIMITS


def row(index, name, kind, driver=""):
    return adapters.DeviceInfo(index, name, kind, "Vulkan", driver, (), dict(DEFAULT_LIMITS))


ROWS = [
    row(0, "NVIDIA H200", "discrete", "580.1"),
    row(1, "NVIDIA H200", "discrete", "580.1"),
    row(2, "llvmpipe (LLVM 15.0.6, 256 bits)", "cpu", "Mesa 22.3.6"),
    row(3, "SwiftShader Device (Subzero)", "cpu", "SwiftShader driver 5.0.0"),
    adapters.reference_info(4),
]


@pytest.mark.parametrize(
    ("name", "index"),
    [
        (None, 0), ("nvidia", 0), ("h200", 0), (1, 1), ("1", 1), (" 1 ", 1), (np.int64(2), 2), ("lavapipe", 2),
        ("LLVMPIPE", 2), ("mesa", 2), ("swiftshader", 3), ("SwiftShader", 3), ("reference", 4), ("4", 4), ("numpy", 4),
    ],
)  # fmt: skip
def test_a_name_means_a_row(name, index):
    assert adapters.choose(name, ROWS).index == index


@pytest.mark.parametrize("name", ["radeon", "5", "-1", 17, "", "  "])
def test_a_name_that_means_nothing_says_what_was_found(name):
    with pytest.raises(xl.DeviceError, match="NVIDIA H200") as caught:
        adapters.choose(name, ROWS)
    assert "device=" in str(caught.value)


def test_the_reference_is_always_last_and_keeps_the_default_limits():
    last = xl.devices()[-1]
    assert (last.kind, last.name) == ("reference", "reference")
    assert last.limits == dict(DEFAULT_LIMITS)
    assert [item.index for item in xl.devices()] == list(range(len(xl.devices())))
    assert json.dumps(last.to_dict())


@pytest.mark.gpu
def test_both_software_drivers_are_listed_once_and_not_as_opengl():
    driver("lavapipe"), driver("swiftshader")
    names = [item.name.lower() for item in xl.devices()]
    assert sum("llvmpipe" in name for name in names) == 1
    assert sum("swiftshader" in name for name in names) == 1
    assert all(item.backend != "OpenGL" for item in xl.devices())


@pytest.mark.gpu
def test_an_open_device_has_the_default_limits_and_measured_facts(gpu):
    for name, value in DEFAULT_LIMITS.items():
        assert gpu.limits[name] == value, name
    assert gpu.info.is_software == (gpu.info.kind == "cpu")
    assert gpu.subgroup_size in (4, 8, 16, 32, 64)
    assert gpu.timestamp_period_ns > 0
    assert "subgroups" in gpu.features and "timestamp-query" in gpu.features
    assert "lavapipe" not in repr(gpu) or gpu.info.name in repr(gpu)


@pytest.mark.gpu
def test_all_limits_of_the_adapter_on_request(lavapipe):
    wide = xl.device(lavapipe.info.index, limits="adapter")
    assert wide.limits["max_buffer_size"] > lavapipe.limits["max_buffer_size"]
    assert wide.gpu is not lavapipe.gpu


@pytest.mark.gpu
def test_an_adopted_device_expands_and_keeps_its_own_limits(lavapipe):
    adopted = xl.adopt(lavapipe.gpu)
    assert adopted.gpu is lavapipe.gpu and adopted.limits == lavapipe.limits
    assert xl.expand([3, 1, 2], "po2_merged", device=adopted).total == 6


def test_only_a_wgpu_device_can_be_adopted():
    with pytest.raises(TypeError, match="gpu_device"):
        xl.adopt("lavapipe")


@pytest.mark.parametrize("name", [1.5, [], object(), True])
def test_a_device_argument_of_the_wrong_type_is_named(name):
    with pytest.raises(TypeError, match=r"name=|device="):
        xl.device(name)
    with pytest.raises(TypeError, match="device="):
        xl.expand([1], "flat", device=name)


def test_limits_must_be_one_of_two_words():
    with pytest.raises(ValueError, match="limits="):
        xl.device("reference", limits="all")


def run_python(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_with_no_driver_the_reference_is_left_and_a_named_device_is_an_error():
    code = (
        "import expandlab as xl\n"
        "print([d.kind for d in xl.devices()], xl.device().info.kind, xl.expand([2, 1], 'append').total)\n"
        "try: xl.device('lavapipe')\n"
        "except xl.DeviceError as e: print('refused:', e)"
    )
    done = run_python(code, VK_DRIVER_FILES="/nonexistent", EXPANDLAB_DEVICE="")
    assert "['reference'] reference 3" in done.stdout
    assert "refused: device='lavapipe'" in done.stdout


def test_the_environment_names_the_default_device():
    done = run_python("import expandlab as xl; print(xl.device().info.kind)", EXPANDLAB_DEVICE="reference")
    assert done.stdout.strip() == "reference"


def test_a_default_device_that_is_not_there_is_an_error_not_a_fallback():
    code = "import expandlab as xl\ntry: xl.expand([1])\nexcept xl.DeviceError as e: print('refused', e)"
    assert "refused" in run_python(code, EXPANDLAB_DEVICE="no such card").stdout


@pytest.mark.gpu
def test_opening_devices_prints_nothing(lavapipe):
    environment = {name: value for name, value in os.environ.items() if name != "XDG_RUNTIME_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", "import expandlab as xl; xl.expand([3, 1, 2], 'flat', device='lavapipe')"],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
