"""A finished mapping as a file."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

import numpy as np

from expandlab.expansion import Expansion
from expandlab.export import writing

SUFFIXES = (".npy", ".csv")


def check_suffix(path: Path | None) -> None:
    """Raise ValueError for a kind of file that `write_mapping` does not write, before any work is done."""
    if path is not None and path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"--output {path}: use one of {', '.join(SUFFIXES)}")


def write_mapping(path: Path, done: Expansion) -> None:
    """Write (src, local), one row for each dst: uint32 (P2, 2) as .npy, or two columns as .csv."""
    table = np.stack([done.src, done.local], axis=1)
    # Readers see the old file or the whole new one.
    temporary = path.with_name(f".{path.name[:80]}.{secrets.token_hex(4)}.tmp")
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                if path.suffix.lower() == ".npy":
                    np.save(file, table, allow_pickle=False)
                else:
                    np.savetxt(file, table, fmt="%d", delimiter=",", header="src,local", comments="")
            os.replace(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
