"""What is measured: workloads, each with its input on the device, its contenders by name and its references.

Every contender of a workload reads the same input and writes the same bytes. A new kind of work is a class with the
methods of `Workload` and a line in `workload`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any, Protocol

import numpy as np

from expandlab import counts as _counts
from expandlab.errors import DeviceError
from expandlab.expansion import strategies
from expandlab.expansion.arguments import pick_strategy, power_of_two, runs
from expandlab.expansion.endings import store
from expandlab.expansion.passes import build, check_state, check_total, refuse_oversize
from expandlab.expansion.report import threads_per_group
from expandlab.expansion.strategy import Passes, Sizes, params_words
from expandlab.gpu import Device, resolve
from expandlab.measuring import references
from expandlab.measuring.contender import Facts, GraphRuns, Runs, graph_digest
from expandlab.measuring.verify import HOST_ITEMS, DeviceCheck, wrong_items

UNCHECKED = " unchecked"
CHECKED = {True: (True,), False: (False,), "both": (True, False)}
VERIFY = ("auto", "host", "device")


def named(name: str, checked: bool) -> str:
    """What a contender is called."""
    return name if checked else name + UNCHECKED


class Workload(Protocol):
    """Work of one kind on one input."""

    input_bytes: int
    output_bytes: int

    def about(self) -> dict[str, Any]:
        """What the input is."""

    def names(self) -> list[str]:
        """Contenders that run here."""

    def contender(self, name: str, checked: bool) -> Runs:
        """The contender called `name`; raises what its public call would."""

    def references(self) -> list[Runs]:
        """Fills of the output's bytes and a read of the input's."""

    def peers(self, names: Sequence[str]) -> list[Runs]:
        """The same by other libraries; raises UnsupportedError where one is missing."""

    def close(self) -> None:
        """Give the device's memory back."""


def runnable(counts: Any, device: Device | str | int | None = None) -> list[str]:
    """Names of the strategies that take these counts on the device."""
    values, dev = _counts.check(counts), resolve(device)
    return [name for name in strategies() if runs(name, values, dev)]


def wanted(what: str | Sequence[str], checked: bool | str, names: Sequence[str]) -> list[tuple[str, bool, bool]]:
    """(name, checked, whether `all` brought it in) of every contender that is asked for, each once.

    what: a name, names, or `all`; a name that ends in ` unchecked` is meant so whatever `checked` says.
    """
    if checked not in CHECKED:
        raise ValueError(f"checked={checked!r}: use True, False or 'both'")
    asked = [what] if isinstance(what, str) else what
    if not isinstance(asked, Sequence) or not asked or not all(isinstance(name, str) for name in asked):
        raise ValueError(f"what={what!r}: give the name of a strategy, a list of names, or 'all'")
    found: dict[tuple[str, bool], bool] = {}
    for name in asked:
        bare = name.removesuffix(UNCHECKED)
        for known in names if bare == "all" else [bare]:
            for how in CHECKED[checked] if bare == name else (False,):
                found[known, how] = found.get((known, how), True) and bare == "all"
    return [(name, how, optional) for (name, how), optional in found.items()]


def from_recipe(recipe: Mapping[str, Any]) -> tuple[np.ndarray, dict[str, Any]]:
    """(counts, what they are) of `{"kind": ..., "items": ..., "mean": ..., "max_n": ..., "seed": ..., "shape": {...}}`.

    Everything but the kind may be left out, as in `expandlab.counts.make`. `standard_library` is a kind here.
    """
    known = ("kind", "items", "mean", "max_n", "seed", "shape")
    unknown = sorted(set(recipe) - set(known))
    if unknown or "kind" not in recipe:
        raise ValueError(f"counts={dict(recipe)!r}: give 'kind', and of {', '.join(known[1:])} what is not the default")
    if recipe["kind"] == "standard_library":
        return _counts.standard_library(), {"kind": "standard_library"}
    shape = dict(recipe.get("shape") or {})
    given = {name: recipe[name] for name in ("mean", "max_n", "seed") if recipe.get(name) is not None}
    values = _counts.make(recipe["kind"], recipe.get("items", 65536), **given, **shape)
    plain = {"kind": recipe["kind"], "mean": given.get("mean", 8.0), "max_n": given.get("max_n"),
             "seed": given.get("seed", 0), "shape": shape}  # fmt: skip
    return values, plain


class Expansions:
    """Expansions of the same counts, results materialised and not brought back; `at_once` of them side by side.

    counts: uint32 (P1,), or a recipe, see `from_recipe`. verify: where outputs are compared with the definition:
    `host`, `device`, or `auto`, which is the host up to 4 Mi items.
    """

    def __init__(
        self, counts: Any, device: Device, *, workgroup_size: int, at_once: int = 1, verify: str = "auto",
        about: Mapping[str, Any] | None = None,
    ):  # fmt: skip
        power_of_two("workgroup_size", workgroup_size, 32, 256)
        if isinstance(at_once, bool) or not isinstance(at_once, (int, np.integer)) or not 1 <= at_once <= 1024:
            raise ValueError(f"at_once={at_once!r}: give a number of expansions from 1 to 1024")
        if verify not in VERIFY:
            raise ValueError(f"verify={verify!r}: use one of {', '.join(VERIFY)}")
        known = dict(about or {})
        if isinstance(counts, Mapping):
            counts, recipe = from_recipe(counts)
            known = recipe | known
        self.values = _counts.check(counts)
        self.total = check_total(self.values)
        self.device, self.size, self.at_once = device, int(workgroup_size), int(at_once)
        self.sizes = Sizes(len(self.values), self.total, self.size, device.subgroup_size)
        self.input_bytes, self.output_bytes = 4 * len(self.values) * at_once, 8 * self.total * at_once
        elsewhere = device.is_reference or device.is_page
        self._on_host = verify == "host" or elsewhere or (verify == "auto" and self.total <= HOST_ITEMS)
        self._known = known
        self._stack = ExitStack()
        self._check: DeviceCheck | None = None
        self.shared: list[dict[str, Any]] = [{} for _ in range(at_once)]

    def about(self) -> dict[str, Any]:
        """Kind and parameters where they are known, sizes and a digest of the counts."""
        digest = hashlib.sha256(self.values.astype("<u4", copy=False).tobytes()).hexdigest()
        mean = self.total / len(self.values) if len(self.values) else 0.0
        # The coefficient of variation: how uneven N is, whatever its kind.
        uneven = float(np.std(self.values, dtype=np.float64)) / mean if mean else 0.0
        sizes = {"src_count": len(self.values), "total": self.total, "counts_sha256": digest}
        return self._known | sizes | {"widest": int(self.values.max(initial=0)), "cv": uneven}

    def names(self) -> list[str]:
        """The strategies that take the counts on the device."""
        return [name for name in strategies() if runs(name, self.values, self.device)]

    def contender(self, name: str, checked: bool) -> GraphRuns:
        """A strategy. Raises what `expand` raises."""
        strategy = pick_strategy(name, self.values, self.device)
        built = build(strategy, self.sizes, store(self.total), checked=checked)
        refuse_oversize(built, self.device, self.total)
        params = params_words(len(self.values), self.total, self.sizes)
        inputs = {"counts": self.values, "params": params, **built.imported}
        return GraphRuns(
            named(strategy.name, checked), "contender", self.device,
            [(built.graph, inputs)] * self.at_once, external=self._shared(),
            inspect=lambda runs: self._inspect(runs, built),
            facts=Facts(scratch_bytes=self._scratch(built), checked=checked, shader_sha256=graph_digest(built.graph)),
            threads_of=lambda graph, item: threads_per_group(built, item),
        )  # fmt: skip

    def references(self) -> list[Runs]:
        """Two fills and a read."""
        shared = self._shared()
        return [
            references.fill(self.device, self.total, shared, self.size),
            references.Clear(self.device, self.total, shared),
            references.read(self.device, self.values, shared, self.size),
        ]

    def peers(self, names: Sequence[str]) -> list[Runs]:
        """Other libraries' arrays of the same items."""
        from expandlab.measuring.peers import expansion_peers

        return expansion_peers(self, names)

    def close(self) -> None:
        """Give the device's memory back."""
        self._stack.close()

    def _scratch(self, built: Passes) -> int:
        return built.scratch_bytes * self.at_once

    def _shared(self) -> list[dict[str, Any]]:
        """The buffers that all contenders share: the counts, and the two columns of the output for each expansion."""
        if self.device.is_reference or self.shared[0]:
            return self.shared
        room = max(48, -(-self.total // 4) * 16)
        with self.device.lock, self.device.errors("making the buffers of the output"):
            counts = self._own(max(16, -(-len(self.values) // 4) * 16), "counts")
            for buffers in self.shared:
                buffers["counts"] = counts
                for name in references.COLUMNS:
                    buffers[name] = self._own(room, name)
        return self.shared

    def _own(self, size: int, label: str) -> Any:
        buffer = self.device.buffer(size, label=label)
        self._stack.callback(buffer.destroy)
        return buffer

    def _inspect(self, runs: GraphRuns, built: Passes) -> str:
        """Spoil the output, run again, and count the items that are wrong."""
        self._spoil()
        runs.sample(1)
        wrong = 0
        for at in range(self.at_once):
            check_state(runs.read("state", at), self.total, built, self.device)
            wrong += self._wrong(runs, at)
        if wrong:
            raise DeviceError(
                f"{self.device.info.name}: {runs.name} gave a wrong expansion, {wrong:,} of {self.total:,} items "
                "differ, so it is not timed"
            )
        return "host" if self._on_host else "device"

    def _spoil(self) -> None:
        """Zero the outputs: what another contender left there is right, and must not be taken for this one's."""
        if self.device.is_reference:
            return
        if self.device.is_page:
            buffers = [each[name] for each in self.shared for name in references.COLUMNS]
            self.device.clear(buffers, buffers[0].size, 1, False)
            return
        with self.device.lock, self.device.errors("clearing the output"):
            encoder = self.device.gpu.create_command_encoder()
            for buffers in self.shared:
                for name in references.COLUMNS:
                    encoder.clear_buffer(buffers[name])
            self.device.gpu.queue.submit([encoder.finish()])

    def _wrong(self, runs: GraphRuns, at: int) -> int:
        if self._on_host:
            src, local = (runs.read(name, at)[: self.total] for name in references.COLUMNS)
            return wrong_items(self.values, src, local)
        buffers = [self.shared[at][name] for name in references.COLUMNS]
        if self._check is None:
            self._check = DeviceCheck(self.device, self.values, self.shared[0]["counts"])
            self._stack.callback(self._check.close)
            if (wrong := self._check.wrong(*buffers)) == 0:
                self._check.try_out(*buffers)
            return wrong
        return self._check.wrong(*buffers)


def workload(counts_or_values: Any, device: Device, *, k: int | None = None, **options: Any) -> Workload:
    """The workload that an input means: with a k scores are selected from, without one counts are expanded."""
    if k is None:
        if not options.pop("largest", True):
            raise ValueError("largest=False: it is of a selection; give k too")
        return Expansions(counts_or_values, device, **options)
    from expandlab.measuring.selections import Selections

    return Selections(counts_or_values, device, k=k, **options)
