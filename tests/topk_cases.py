"""The cases of tests/cases/topk.json and the scores that they describe."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

CASES = json.loads((Path(__file__).parent / "cases" / "topk.json").read_text())["cases"]


def scores(given, dtype, seed=0):
    if isinstance(given, dict):
        return eval(given["expr"], {"np": np, "rng": np.random.default_rng(seed)})
    bits = [int(value, 16) if isinstance(value, str) and value.startswith("0x") else None for value in given]
    array = np.array([0 if bit is not None else float(v) for v, bit in zip(given, bits, strict=True)], np.float64)
    array = np.array(given, dtype) if np.dtype(dtype).kind in "iu" else array.astype(dtype)
    for place, bit in enumerate(bits):
        if bit is not None:
            array.view(np.uint32)[place] = bit
    return array
