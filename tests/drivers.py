"""Fixtures for tests on real devices: the software Vulkan drivers that the project is developed on."""

from __future__ import annotations

import functools
import os

import pytest

import expandlab as xl

# A machine with a GPU runs the same tests on it: EXPANDLAB_TEST_DEVICES=nvidia
DRIVERS = tuple(os.environ.get("EXPANDLAB_TEST_DEVICES", "lavapipe swiftshader").replace(",", " ").split())
HINTS = {
    "lavapipe": "apt-get install mesa-vulkan-drivers libvulkan1",
    "swiftshader": "apt-get install chromium libvulkan1",
    "dawn": "apt-get install chromium libvulkan1",
}


@functools.cache
def open_driver(name: str) -> xl.Device | xl.DeviceError:
    """The device, opened once for the whole run; or why it cannot be."""
    try:
        return open_dawn() if name == "dawn" else xl.device(name)
    except xl.DeviceError as error:
        return error


def open_dawn() -> xl.Device:
    """SwiftShader through Dawn, the other implementation of WebGPU, as a device of the user's own."""
    try:
        import wgpudawn
    except ImportError as error:
        raise xl.DeviceError("Dawn is not installed: pip install wgpudawn") from error

    from expandlab.gpu.drivers import swiftshader_icd

    icd = swiftshader_icd()
    if icd is None:
        raise xl.DeviceError("Dawn runs on the SwiftShader of a browser, and there is none")
    with pytest.MonkeyPatch.context() as patch:
        # It refuses the lavapipe of Mesa 22.3, so only SwiftShader is shown to it.
        patch.setenv("VK_DRIVER_FILES", icd)
        adapter = wgpudawn.gpu.enumerate_adapters_sync()[0]
        wanted = [name for name in ("timestamp-query", "subgroups") if name in adapter.features]
        return xl.adopt(adapter.request_device_sync(required_features=wanted))


def driver(name: str) -> xl.Device:
    """The device called `name`; the test is skipped, or fails where a GPU is required, when there is none."""
    # Not at the top: conftest.py imports the fixtures from here.
    from conftest import missing

    found = open_driver(name)
    return missing("gpu", HINTS.get(name, "see `expandlab doctor`")) if isinstance(found, xl.DeviceError) else found


@pytest.fixture(params=DRIVERS)
def gpu(request) -> xl.Device:
    """Each software driver in turn."""
    return driver(request.param)


@pytest.fixture(params=[*DRIVERS, "reference"])
def any_device(request) -> xl.Device:
    """Each software driver in turn, then the NumPy reference."""
    return xl.device("reference") if request.param == "reference" else driver(request.param)


@pytest.fixture(params=[*DRIVERS, "dawn", "reference"])
def every_device(request) -> xl.Device:
    """The same, and the second implementation of WebGPU."""
    return xl.device("reference") if request.param == "reference" else driver(request.param)


@pytest.fixture
def lavapipe() -> xl.Device:
    """The first driver alone (Mesa's by default), for what need not run twice."""
    return driver(DRIVERS[0])
