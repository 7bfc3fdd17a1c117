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
}


@functools.cache
def open_driver(name: str) -> xl.Device | xl.DeviceError:
    """The device, opened once for the whole run; or why it cannot be."""
    try:
        return xl.device(name)
    except xl.DeviceError as error:
        return error


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


@pytest.fixture
def lavapipe() -> xl.Device:
    """The first driver alone (Mesa's by default), for what need not run twice."""
    return driver(DRIVERS[0])
