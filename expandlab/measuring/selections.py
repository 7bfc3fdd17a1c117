"""Top-k as what is measured: every method on the same scores, beside one read of them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any

import numpy as np

from expandlab.errors import DeviceError, UnsupportedError
from expandlab.gpu import Device
from expandlab.measuring import references
from expandlab.measuring.contender import Facts, GraphRuns, Runs, Sample, graph_digest
from expandlab.measuring.scores import SelectionCheck, checked_scores, digest
from expandlab.topk.arguments import check_k, check_largest, pick_method
from expandlab.topk.keys import keys_of, scores_of, words_of
from expandlab.topk.method import WORKGROUP, Selection, Sizes, params_words
from expandlab.topk.methods import top_k_methods
from expandlab.topk.prepared import NO_BOUND, Prepared, build, refuse

# Up to here a selection is compared in NumPy; from more scores the device counts where they are.
HOST_SCORES = 1 << 20


class Selections:
    """Selections of the k best of the same scores, which are on the device already; results stay there.

    values: scores as `top_k` takes them, or a recipe, see `scores.from_recipe`. verify: where a selection is compared
    with the definition: `host`, `device`, or `auto`, which is the host up to 2^20 scores.
    """

    def __init__(
        self, values: Any, device: Device, *, k: int, largest: bool = True, workgroup_size: int = WORKGROUP,
        at_once: int = 1, verify: str = "auto", about: Mapping[str, Any] | None = None,
    ):  # fmt: skip
        if workgroup_size != WORKGROUP or at_once != 1:
            raise ValueError(f"workgroup_size={workgroup_size}, at_once={at_once}: methods run one at a time in "
                             f"workgroups of {WORKGROUP}; leave both out")  # fmt: skip
        self.values, self.form, known = checked_scores(values)
        self.k, self.largest = check_k(k, len(self.values)), check_largest(largest)
        if not self.k:
            raise ValueError("k=0: nothing is selected, so there is nothing to time; give k of 1 or more")
        self.device, self.at_once = device, 1
        self.total = len(self.values)
        self.words = words_of(self.values)
        self.sizes = Sizes(len(self.values), self.k, self.form, self.largest, device.info.is_software)
        # What every method has to do: read the scores.
        self.input_bytes = 4 * len(self.words)
        self.output_bytes = 4 * self.k + 4 * self.form.words(self.k)
        self._known = known | dict(about or {})
        elsewhere = device.is_reference or device.is_page
        self._on_host = verify == "host" or elsewhere or (verify == "auto" and self.total <= HOST_SCORES)
        self._stack = ExitStack()
        self._buffer: Any | None = None
        self._check: SelectionCheck | None = None

    def about(self) -> dict[str, Any]:
        """What the scores are, how many, and a digest of them."""
        own = {"work": "top_k", "scores": self.total, "k": self.k, "largest": self.largest, "dtype": self.form.name,
               "scores_sha256": digest(self.values)}  # fmt: skip
        return self._known | own

    @cached_property
    def keys(self) -> np.ndarray:
        """Keys of the scores, smaller is better: uint32 (n,)."""
        return keys_of(self.values, self.largest)

    def names(self) -> list[str]:
        """The methods that take the scores on the device."""
        return [name for name in top_k_methods() if self._runs(name)]

    def contender(self, name: str, checked: bool) -> Runs:
        """A method. Raises what `top_k` raises."""
        if not checked:
            raise ValueError(f"{name!r} unchecked: methods of top-k always run without run-time checks; leave it out")
        method = pick_method(name, self.total, self.k, self.device)
        if method.finish is not None:
            return HostFinished(method, self)
        built = build(method, self.sizes)
        refuse(built, self.device)
        return GraphRuns(
            method.name, "contender", self.device, [(built.graph, self._inputs(built))], external=[self._external()],
            inspect=self._inspect, facts=facts_of(built), threads_of=lambda graph, item: WORKGROUP,
        )  # fmt: skip

    def references(self) -> list[Runs]:
        """One read of the scores: the limit."""
        shared = {} if self.device.is_reference else {"counts": self._external()["values"]}
        return [references.read(self.device, self.words, [shared], WORKGROUP, role="limit")]

    def peers(self, names: Sequence[str]) -> list[Runs]:
        """Other libraries on the same scores."""
        from expandlab.measuring.selection_peers import selection_peers

        return selection_peers(self, names)

    def close(self) -> None:
        """Give the device's memory back."""
        self._stack.close()

    def inspect(self, indices: np.ndarray, values: np.ndarray, name: str) -> str:
        """Where a result was compared with the definition. Raises DeviceError where it is wrong."""
        if self._check is None:
            buffer = None if self._on_host else self._external()["values"]
            self._check = SelectionCheck(self.device, self.values, self.form, self.largest, buffer)
            self._stack.callback(self._check.close)
        if problem := self._check.wrong(indices, values, self.k):
            raise DeviceError(f"{self.device.info.name}: {name} gave a wrong selection, {problem}, so it is not timed")
        return "host" if self._on_host else "device"

    def _inspect(self, runs: GraphRuns) -> str:
        count = int(runs.read("status")[0])
        indices = runs.read("out_indices")[: min(count, self.k)]
        values = scores_of(runs.read("out_values"), self.form, len(indices))
        return self.inspect(indices, values, runs.name)

    def _runs(self, name: str) -> bool:
        try:
            pick_method(name, self.total, self.k, self.device)
        except UnsupportedError:
            return False
        return True

    def _inputs(self, built: Selection) -> dict[str, np.ndarray]:
        given = {"params": params_words(self.total, self.sizes, NO_BOUND), **built.imported}
        return given | ({"values": self.words} if self.device.is_reference else {})

    def _external(self) -> dict[str, Any]:
        """The scores on the device, written once for all."""
        if self.device.is_reference:
            return {}
        if self._buffer is None:
            with self.device.lock, self.device.errors("writing the scores"):
                self._buffer = self.device.buffer(16 * self.sizes.quads, label="values")
                self._stack.callback(self._buffer.destroy)
                if self.device.is_page:
                    self._buffer.write(self.words)
                elif len(self.words):
                    self.device.gpu.queue.write_buffer(self._buffer, 0, self.words)
        return {"values": self._buffer}


def facts_of(built: Selection) -> Facts:
    """What one run of the passes takes, as far as it is known before."""
    return Facts(scratch_bytes=built.scratch_bytes, checked=False, shader_sha256=graph_digest(built.graph))


class HostFinished:
    """A method whose last step is the host's. Its times are the host's clock's: pass, way back and the host's step."""

    role = "contender"
    stamped = True

    def __init__(self, method: Any, work: Selections):
        self.name = method.name
        self._work, self._method = work, method
        self._built = build(method, work.sizes)
        refuse(self._built, work.device)
        self._prepared: Prepared | None = None

    def prepare(self) -> None:
        """Make the program."""
        self._prepared = Prepared(self._method, self._built, self._work.device)

    def check(self) -> str:
        """Run once and compare."""
        found = self._run()
        return self._work.inspect(found.indices, found.values, self.name)

    def _run(self) -> Any:
        return self._prepared.run(self._work.words, self._work.total, timed=False)

    def sample(self, runs: int) -> Sample:
        """`runs` whole runs, one after the other."""
        start = time.perf_counter()
        for _ in range(runs):
            self._run()
        return Sample(None, (time.perf_counter() - start) * 1e3 / runs, ())

    def facts(self) -> Facts:
        """What one run takes."""
        return facts_of(self._built)

    def most_runs(self) -> int:
        """A run takes milliseconds at the least."""
        return 8

    def close(self) -> None:
        """Give the device's memory back."""
        if self._prepared is not None:
            self._prepared.close()
