"""The example that measures a search, on a small one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.gpu
def test_the_example_times_both_searches():
    told = subprocess.run(
        [sys.executable, "docs/examples/search_rate.py", "--slot", "6", "--k", "16", "--rounds", "2"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    rates = json.loads(told)
    assert rates["loadouts"] == 6**6
    assert len(rates["gpu_ms_best_1"]) == len(rates["gpu_ms_best_k"]) == 2
    assert rates["loadouts_per_second"] > 0
