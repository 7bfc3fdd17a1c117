"""Where Vulkan drivers lie on this machine, and how the loader is told about the second software driver."""

from __future__ import annotations

import contextlib
import ctypes.util
import glob
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

# The loader reads these folders by itself (Vulkan-Loader, LoaderDriverInterface.md, "Driver discovery on Linux").
_ICD_FOLDERS = (
    "/usr/share/vulkan/icd.d",
    "/usr/local/share/vulkan/icd.d",
    "/etc/vulkan/icd.d",
    "~/.local/share/vulkan/icd.d",
)
# Browsers carry SwiftShader, a complete software Vulkan driver, outside those folders.
_SWIFTSHADER_ICDS = (
    "/usr/lib/chromium/vk_swiftshader_icd.json",
    "/usr/lib/chromium-browser/vk_swiftshader_icd.json",
    "/opt/google/chrome/vk_swiftshader_icd.json",
)


def loader_library() -> str | None:
    """Name of the Vulkan loader library, or None where there is none."""
    return ctypes.util.find_library("vulkan") or ctypes.util.find_library("vulkan-1")


def icd_files() -> list[str]:
    """Driver manifests that the loader finds, in the order of its folders; the environment overrides them."""
    named = os.environ.get("VK_DRIVER_FILES") or os.environ.get("VK_ICD_FILENAMES")
    if named:
        return [name for name in named.split(os.pathsep) if Path(name).exists()]
    found: list[str] = []
    for folder in _ICD_FOLDERS:
        found += sorted(glob.glob(os.path.join(os.path.expanduser(folder), "*.json")))
    added = os.environ.get("VK_ADD_DRIVER_FILES", "")
    return found + [name for name in added.split(os.pathsep) if name and Path(name).exists()]


def swiftshader_icd() -> str | None:
    """The manifest of a browser's SwiftShader, or None."""
    return next((name for name in _SWIFTSHADER_ICDS if Path(name).exists()), None)


@contextlib.contextmanager
def loader_environment() -> Iterator[None]:
    """Environment for creating the Vulkan instance.

    Adds a browser's SwiftShader unless the user chose the drivers; the loader ignores the addition in that case
    too, but an environment left alone is easier to reason about. XDG_RUNTIME_DIR stops Mesa from complaining on
    stderr; it is put back, because other programs read it.
    """
    chosen = any(os.environ.get(name) for name in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"))
    icd = swiftshader_icd()
    changes = {}
    if icd and not chosen:
        changes["VK_ADD_DRIVER_FILES"] = icd
    if "XDG_RUNTIME_DIR" not in os.environ:
        changes["XDG_RUNTIME_DIR"] = tempfile.gettempdir()
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in changes:
            os.environ.pop(name, None)
