"""What a measurement found: samples of every contender, the limits that they ran beside, and where they come from."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import ExpandlabError
from expandlab.files import replacing
from expandlab.results import Result, to_plain

if TYPE_CHECKING:
    import pandas as pd

FORMAT, VERSION = "expandlab-measurements", 1
# What one row is called where only the whole can be timed.
WHOLE = "all passes"
# A run whose fill moved more than this between its quartiles was taken at a clock that moved.
CLOCK_SPREAD = 0.10
# What a contender can be: measured for itself, a bound of what is possible, a read of the input, another library.
ROLES = ("contender", "limit", "read", "peer")


class MeasurementsError(ExpandlabError, ValueError):
    """A file that holds no measurements, or is damaged. The message says what is wrong with it."""


@dataclass(frozen=True)
class Spread(Result):
    """Median and quartiles."""

    median: float
    q1: float
    q3: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        """Of at least one value."""
        q1, median, q3 = (float(value) for value in np.percentile(np.asarray(values, float), [25, 50, 75]))
        return cls(median, q1, q3)

    @property
    def width(self) -> float:
        """Distance of the quartiles over the median."""
        return (self.q3 - self.q1) / self.median if self.median else 0.0


@dataclass(frozen=True)
class PassTime(Result):
    """Median and quartiles of a pass's time, in ms, over `samples` samples. `name` is the contender's."""

    name: str
    pass_name: str
    median_ms: float
    q1_ms: float
    q3_ms: float
    samples: int


@dataclass(frozen=True)
class Contender(Result):
    """The samples of one contender, one for each round that it took part in, in the rounds' order.

    name: a strategy or method, with ` unchecked` behind it where its shaders run without run-time checks; or a
        reference. role: one of `ROLES`.
    gpu_ms: GPU time of one run: from the first pass's begin to the last one's end, a batch divided by its runs.
        Without a timer it is `wall_ms`.
    wall_ms: the host's time from recording a batch until it was done, divided by its runs.
    pass_ms: by pass, in one run that is timed pass by pass. Empty without a timer.
    runs: in a batch. rounds: which rounds the samples were taken in.
    scratch_bytes: of buffers between the passes. threads, dispatches: of one run; None where they are not known.
    shader_sha256: one digest over the shaders of every pass.
    verified: `host` or `device`: where the output was compared with the definition before it was timed; None for a
        reference, which has nothing to get wrong.
    """

    name: str
    role: str
    gpu_ms: tuple[float, ...]
    wall_ms: tuple[float, ...]
    pass_ms: dict[str, tuple[float, ...]]
    runs: int
    rounds: tuple[int, ...]
    scratch_bytes: int | None = None
    threads: int | None = None
    dispatches: int | None = None
    checked: bool | None = None
    shader_sha256: str | None = None
    verified: str | None = None

    @property
    def gpu(self) -> Spread:
        """Median and quartiles of `gpu_ms`."""
        return Spread.of(self.gpu_ms)

    @property
    def wall(self) -> Spread:
        """Median and quartiles of `wall_ms`."""
        return Spread.of(self.wall_ms)


@dataclass(frozen=True)
class Measurements(Result):
    """Times taken under one protocol on one device and one input, with what is needed to believe them.

    contenders: those that were measured, in the order in which they were asked for, then references and peers.
    device, driver, backend, kind: of the device. software: True where the CPU is measured. timer: `timestamp-query`,
        or `wall clock`, the host's around submit and wait.
    input: what the input is: kind, parameters and seed of the counts where they are known; src_count, total,
        counts_sha256. Of a selection: `work` = `top_k`, scores, k, largest, dtype,
        scores_sha256. input_bytes, output_bytes: that the limits read and write.
    clock_moved: the fill's quartiles (of a selection, the read's) lie more than 10 % apart, so ratios within a round
        compare and times do not.
    cancelled: fewer rounds than asked for were taken.
    """

    contenders: tuple[Contender, ...]
    device: str
    driver: str
    backend: str
    kind: str
    timer: str
    software: bool
    cancelled: bool
    input: dict[str, Any]
    input_bytes: int
    output_bytes: int
    workgroup_size: int
    at_once: int
    repeats: int
    warm_up_s: float
    batch_ms: float
    versions: dict[str, str | None]
    commit: str | None
    left_out: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        number = len(self.of_role("contender"))
        return f"<Measurements of {number} contenders on {self.device}, {self.timer}, {self.size}>"

    def _repr_html_(self) -> str:
        from html import escape

        shown = self.frame()
        shown = shown[shown["pass"] == "total"] if len(shown) else shown
        note = "; software adapter: the CPU is measured" if self.software else ""
        note += "; the clock moved" if self.clock_moved else ""
        columns = [name for name in ("name", "role", "median_ms", "q1_ms", "q3_ms", "x_limit") if name in shown]
        head = escape(f"{self.device}, {self.driver}; {self.timer}; {self.size}{note}")
        return f"<p>{head}</p>" + shown[columns].to_html(index=False, float_format=lambda value: f"{value:.4g}")

    @property
    def src_count(self) -> int:
        """P1."""
        return int(self.input.get("src_count", 0))

    @property
    def total(self) -> int:
        """P2."""
        return int(self.input.get("total", 0))

    @property
    def selects(self) -> bool:
        """Whether methods of top-k were measured, and not expansions."""
        return self.input.get("work") == "top_k"

    @property
    def size(self) -> str:
        """How large the input is, for people."""
        if self.selects:
            return f"{self.input['k']:,} of {self.input['scores']:,} scores"
        return f"{self.src_count:,} src, {self.total:,} items"

    @property
    def counts_sha256(self) -> str:
        """Digest of the counts' bytes."""
        return str(self.input.get("counts_sha256", ""))

    @property
    def shader_sha256(self) -> dict[str, str]:
        """Digest of every contender's shaders, by name."""
        return {item.name: item.shader_sha256 for item in self.contenders if item.shader_sha256}

    def of_role(self, *roles: str) -> list[Contender]:
        """The contenders of some roles."""
        return [item for item in self.contenders if item.role in roles and item.gpu_ms]

    def __getitem__(self, name: str) -> Contender:
        """The contender called `name`. Raises KeyError with the names that there are."""
        for item in self.contenders:
            if item.name == name:
                return item
        raise KeyError(f"{name!r} was not measured; there are {', '.join(item.name for item in self.contenders)}")

    @property
    def limit(self) -> Contender | None:
        """The fastest of the references that write the same output bytes; None where none was measured."""
        return min(self.of_role("limit"), key=lambda item: item.gpu.median, default=None)

    @property
    def clock_moved(self) -> bool:
        """Whether the fill's quartiles lie more than 10 % apart."""
        limits = self.of_role("limit")
        fill = next((item for item in limits if item.name == "fill"), limits[0] if limits else None)
        return fill is not None and fill.gpu.width > CLOCK_SPREAD

    def x_limit(self, name: str) -> Spread | None:
        """Ratios of a contender's time to the limit's, round by round: their median and quartiles."""
        limit, item = self.limit, self[name]
        if limit is None or not item.gpu_ms:
            return None
        beside = dict(zip(limit.rounds, limit.gpu_ms, strict=True))
        ratios = [ms / beside[at] for at, ms in zip(item.rounds, item.gpu_ms, strict=True) if beside.get(at)]
        return Spread.of(ratios) if ratios else None

    @property
    def rows(self) -> tuple[PassTime, ...]:
        """One row for each pass of each contender, references aside."""
        return tuple(row for item in self.of_role("contender") for row in _pass_rows(item))

    @property
    def totals(self) -> tuple[PassTime, ...]:
        """One row for each contender, references aside."""
        return tuple(_total_row(item) for item in self.of_role("contender"))

    def frame(self) -> pd.DataFrame:
        """All rows as a pandas table, each pass and then the total of each contender; `attrs` holds the rest."""
        import pandas as pd

        table = []
        for item in self.of_role(*ROLES):
            ratio = self.x_limit(item.name)
            for row in (*_pass_rows(item), _total_row(item)):
                whole = row.pass_name == "total"
                table.append(
                    {
                        "name": item.name, "role": item.role, "pass": row.pass_name, "median_ms": row.median_ms,
                        "q1_ms": row.q1_ms, "q3_ms": row.q3_ms, "samples": row.samples,
                        "x_limit": ratio.median if ratio and whole else None,
                        "x_limit_q1": ratio.q1 if ratio and whole else None,
                        "x_limit_q3": ratio.q3 if ratio and whole else None,
                        "wall_ms": item.wall.median if whole else None,
                        "runs": item.runs, "checked": item.checked, "verified": item.verified,
                        "scratch_bytes": item.scratch_bytes, "threads": item.threads, "dispatches": item.dispatches,
                        **self.facts(),
                    }
                )  # fmt: skip
        frame = pd.DataFrame(table)
        frame.attrs.update(self.provenance())
        return frame

    def facts(self) -> dict[str, Any]:
        """What tells the rows of several measurements apart."""
        known = ("kind", "mean", "max_n", "seed", "shape")
        plain = {f"counts_{name}" if name == "kind" else name: self.input.get(name) for name in known}
        if isinstance(plain["shape"], Mapping):
            plain["shape"] = ", ".join(f"{name}={value:g}" for name, value in sorted(plain["shape"].items()))
        if self.selects:
            plain |= {"scores": self.input["scores"], "k": self.input["k"], "dtype": self.input["dtype"]}
        return plain | {
            "src_count": self.src_count, "total": self.total, "workgroup_size": self.workgroup_size,
            "at_once": self.at_once, "device": self.device, "timer": self.timer, "software": self.software,
            "clock_moved": self.clock_moved,
        }  # fmt: skip

    def provenance(self) -> dict[str, Any]:
        """Everything but the samples."""
        plain = {
            f.name: to_plain(getattr(self, f.name)) for f in dataclasses.fields(self) if f.name not in ("contenders",)
        }
        return plain | {"shader_sha256": self.shader_sha256}

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain Python, the derived numbers among it."""
        plain = to_plain(self) | {"format": FORMAT, "version": VERSION, "clock_moved": self.clock_moved}
        plain["rows"] = [to_plain(row) for row in self.rows]
        plain["totals"] = [to_plain(row) for row in self.totals]
        limit = self.limit
        plain["limit"] = limit.name if limit else None
        plain["x_limit"] = {item.name: to_plain(self.x_limit(item.name)) for item in self.of_role(*ROLES)}
        return plain

    @classmethod
    def from_dict(cls, data: Any, where: str = "data") -> Measurements:
        """What `to_dict` gave. Raises MeasurementsError saying what is wrong."""
        check_format(data, FORMAT, VERSION, where)
        names = [f.name for f in dataclasses.fields(cls)]
        missing = [name for name in names if name not in data and name not in ("left_out", "settings")]
        if missing:
            raise MeasurementsError(f"{where}: {missing[0]!r} is missing; the file is damaged, take another copy")
        kept = {name: data[name] for name in names if name in data}
        try:
            kept["contenders"] = tuple(_contender(item) for item in data["contenders"])
        except (TypeError, KeyError, ValueError) as error:
            raise MeasurementsError(f"{where}: a contender is damaged ({error}); take another copy") from None
        if not isinstance(data["input"], dict) or not isinstance(data["versions"], dict):
            raise MeasurementsError(f"{where}: 'input' and 'versions' must be objects; take another copy")
        return cls(**kept)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write JSON to `path`, at once or not at all; returns the path."""
        return write_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Measurements:
        """Read what `save` wrote: data only, no code. Raises MeasurementsError for anything else."""
        return cls.from_dict(read_json(Path(path)), Path(path).name)

    @staticmethod
    def shipped(name: str) -> list[Measurements]:
        """What the package carries under a name: `h200` (187 inputs, all strategies), `h200_large` (beside peers).

        Raises ValueError for another name.
        """
        from expandlab.measuring.packed import load_shipped

        return load_shipped(name)

    @staticmethod
    def standings(measured: Iterable[Measurements]) -> pd.DataFrame:
        """One row for each contender: how often it is the fastest of an input, and how many times slower otherwise.

        measured: of one device, as `shipped` and `Sweep.measurements` have them. Times are medians; a contender without
        a time on an input (refused, wrong, cancelled) leaves that input out.

        Columns: `inputs` with a time; `first` and `within_10` (percent of the best): numbers of inputs; `median`,
        `worst`: times as long as the best of the same input; `worst_at`: that input. Sorted by `median`.

        Raises ValueError for measurements of several devices, or without a time.
        """
        from expandlab.measuring.standings import standings

        return standings(measured)


def _pass_rows(item: Contender) -> list[PassTime]:
    taken = item.pass_ms or {WHOLE: item.gpu_ms}
    return [_row(item.name, name, times) for name, times in taken.items()]


def _total_row(item: Contender) -> PassTime:
    return _row(item.name, "total", item.gpu_ms)


def _row(name: str, pass_name: str, times: Sequence[float]) -> PassTime:
    spread = Spread.of(times)
    return PassTime(name, pass_name, spread.median, spread.q1, spread.q3, len(times))


def _contender(data: Mapping[str, Any]) -> Contender:
    known = {f.name for f in dataclasses.fields(Contender)}
    kept = {name: value for name, value in data.items() if name in known}
    for name in ("gpu_ms", "wall_ms"):
        kept[name] = tuple(float(value) for value in kept[name])
    kept["rounds"] = tuple(int(value) for value in kept["rounds"])
    kept["pass_ms"] = {name: tuple(float(value) for value in times) for name, times in kept["pass_ms"].items()}
    if len(kept["gpu_ms"]) != len(kept["rounds"]) or kept["role"] not in ROLES:
        raise ValueError(f"{kept['name']}: as many samples as rounds, and a role of {', '.join(ROLES)}")
    return Contender(**kept)


def check_format(data: Any, fmt: str, version: int, where: str) -> None:
    """Raise MeasurementsError where `data` is not an object of this format and version."""
    if not isinstance(data, dict) or data.get("format") != fmt:
        raise MeasurementsError(f"{where}: is no {fmt} file; give one that expandlab wrote")
    if data.get("version") != version:
        raise MeasurementsError(f"{where}: has version {data.get('version')!r}, and this expandlab reads {version}")


def read_json(path: Path) -> Any:
    """The JSON in a file. Raises MeasurementsError where it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MeasurementsError(f"{path}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError) as error:
        raise MeasurementsError(f"{path.name}: is damaged, not JSON ({error}); take another copy") from None


def write_json(path: Path, data: Any) -> Path:
    """Write JSON beside `path` and put it in its place: readers see the old file or the new one."""
    with replacing(path, MeasurementsError) as temporary, temporary.open("w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.write("\n")
    return path
