"""A finished mapping as a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from expandlab.expansion import Expansion
from expandlab.files import check_writable, replacing

SUFFIXES = (".npy", ".csv")


def check_output(path: Path | None) -> None:
    """Raise ValueError for a kind of file that `write_mapping` does not write, ExportError for a place where none can
    be, before any work is done.
    """
    if path is not None and path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--output {path}: use one of {', '.join(SUFFIXES)}")
    if path is not None:
        check_writable(path)


def write_mapping(path: Path, done: Expansion) -> None:
    """Write (src, local), one row for each dst: uint32 (P2, 2) as .npy, or two columns as .csv."""
    table = np.stack([done.src, done.local], axis=1)
    with replacing(path) as temporary, temporary.open("wb") as file:
        if path.suffix.lower() == ".npy":
            np.save(file, table, allow_pickle=False)
        else:
            np.savetxt(file, table, fmt="%d", delimiter=",", header="src,local", comments="")
