"""Measurements made up for tests of what is done with them."""

from __future__ import annotations

import dataclasses

from expandlab.measuring import Contender, Measurements


def contender(name, gpu_ms, *, role="contender", pass_ms=None, **changes):
    """A contender with these samples, one for each round."""
    found = Contender(
        name=name, role=role, gpu_ms=tuple(gpu_ms), wall_ms=tuple(2 * ms for ms in gpu_ms),
        pass_ms={key: tuple(values) for key, values in (pass_ms or {}).items()}, runs=1,
        rounds=tuple(range(len(gpu_ms))), scratch_bytes=1000, threads=512, dispatches=4, checked=True,
        shader_sha256="cd" * 32, verified=None if role in ("limit", "read") else "host",
    )  # fmt: skip
    return dataclasses.replace(found, **changes)


def measurements(*contenders, **changes):
    """Measurements of these contenders on a software adapter."""
    found = Measurements(
        contenders=contenders, device="llvmpipe", driver="Mesa 22.3.6", backend="Vulkan", kind="cpu",
        timer="timestamp-query", software=True, cancelled=False,
        input={"kind": "zipf", "mean": 6.0, "max_n": None, "seed": 3, "shape": {}, "src_count": 48, "total": 288,
               "counts_sha256": "ab" * 32},
        input_bytes=192, output_bytes=2304, workgroup_size=256, at_once=1, repeats=20, warm_up_s=0.3, batch_ms=1.0,
        versions={"expandlab": "0.1.0"}, commit="ef" * 20,
    )  # fmt: skip
    return dataclasses.replace(found, **changes)
