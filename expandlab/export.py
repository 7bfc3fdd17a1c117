"""Exports: a picture or its data as a file, with all that is needed to make it again inside the file.

Equal settings give equal bytes: no time stamps, no random names. `picture` is what panels and the command line share.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from expandlab.errors import ExportError
from expandlab.expansion.record import record_map
from expandlab.expansion.thread_map import ThreadMap, thread_map
from expandlab.files import replacing
from expandlab.gpu import Device, resolve
from expandlab.origin import commit, provenance, shader_digests
from expandlab.results import to_plain
from expandlab.settings import ExpansionSettings, PanelSettings
from expandlab.settings.base import by_key

if TYPE_CHECKING:
    from expandlab.figures.page import Page
    from expandlab.measuring import Measurements

__all__ = ["FORMATS", "ExportError", "commit", "content", "page_content", "picture", "provenance", "read_provenance",
           "save", "shader_digests", "write"]  # fmt: skip
FORMATS = ("png", "svg", "pdf", "csv", "json")
MAP_COLUMNS = ("dispatch", "workgroup", "subgroup", "lane", "src", "local", "bucket", "dst", "entry")
_CSV_LINE = "# provenance: "


def picture(settings: PanelSettings, fmt: str, *, device: Device | None = None) -> bytes:
    """The export that `settings` describe, as the bytes of a file.

    fmt: one of `FORMATS`. device: the open device to record on where `settings.device` is set; None opens the one
    that the settings name. The same settings give the same bytes, on a device whose atomics do not reorder items.

    Raises ExportError for an unknown format, and what `thread_map` and `record_map` raise.
    """
    fmt = _known(fmt)
    if not isinstance(settings, ExpansionSettings):
        from expandlab.figures.page import make

        page = make(settings)
        return page_content(fmt, settings, page, provenance(settings, counts=page.counts) | page.provenance)
    counts = settings.counts()
    opened = (device or resolve(settings.device)) if settings.device is not None else None
    maps = [_map(counts, name, settings, opened) for name in (settings.strategy, settings.compare) if name]
    found = provenance(settings, device=opened, counts=counts)
    return content(fmt, settings, map=maps[0], compare=maps[1] if len(maps) > 1 else None, counts=counts,
                   provenance=found)  # fmt: skip


def _map(counts: np.ndarray, name: str, settings: ExpansionSettings, device: Device | None) -> ThreadMap:
    if device is not None:
        return record_map(counts, name, device=device, workgroup_size=settings.workgroup_size)
    return thread_map(
        counts, name, workgroup_size=settings.workgroup_size, subgroup_size=settings.subgroup_size
    )  # fmt: skip


def page_content(fmt: str, settings: PanelSettings, page: Page, found: Mapping[str, Any]) -> bytes:
    """A page as the bytes of a file, with the provenance `found` inside."""
    fmt = _known(fmt)
    if fmt == "csv":
        return _csv(dict(found), page.description, [page.head, *page.rows])
    if fmt == "json":
        held = {
            "description": page.description,
            "provenance": dict(found),
            "settings": to_plain(settings),
            "counts": None if page.counts is None else page.counts.tolist(),
            "table": {"head": list(page.head), "rows": to_plain(page.rows)},
            "data": to_plain(page.data),
        }
        return (_dumps(held) + "\n").encode()
    from expandlab.figures.render import render

    return render(page.figure, fmt, title=page.title, description=page.description, provenance=_dumps(dict(found)))


def save(path: str | Path, settings: PanelSettings, *, device: Device | None = None) -> Path:
    """Write `picture(settings, ...)` to `path`; the suffix says which format. Returns the path."""
    target = Path(path)
    return _replace(target, picture(settings, _suffix(target), device=device))


def write(
    path: str | Path,
    settings: ExpansionSettings | None,
    *,
    map: ThreadMap | None = None,
    compare: ThreadMap | None = None,
    counts: np.ndarray | None = None,
    timings: Measurements | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Path:
    """Write a map or a measurement to `path`; its suffix, one of .png .svg .pdf .csv .json, says how.

    With `timings` the times are written, else the map. `counts` are the settings' own where they are not given.
    The folder is created, and the file replaced at once or not at all. Raises ExportError. Returns the path.
    """
    target = Path(path)
    fmt = _suffix(target)
    data = content(
        fmt, settings, map=map, compare=compare, counts=counts, timings=timings, provenance=provenance
    )  # fmt: skip
    return _replace(target, data)


def content(
    fmt: str,
    settings: ExpansionSettings | None,
    *,
    map: ThreadMap | None = None,
    compare: ThreadMap | None = None,
    counts: np.ndarray | None = None,
    timings: Measurements | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> bytes:
    """The bytes that `write` writes."""
    from expandlab.figures import alt

    fmt = _known(fmt)
    if map is None and timings is None:
        raise ValueError("map=None: give the map or the timings to write")
    if map is not None and counts is None and settings is not None:
        counts = settings.counts()
    found = dict(provenance) if provenance is not None else _provenance(settings, timings=timings, counts=counts)
    text = alt.timings_text(timings) if timings is not None else alt.map_text(map, counts, settings, compare)
    if fmt == "csv":
        return _csv(found, text, _timing_rows(timings) if timings is not None else _map_rows(map, compare))
    if fmt == "json":
        return _json(found, text, settings, map, compare, counts, timings)
    return _drawn(fmt, found, text, settings, map, compare, counts, timings)


# `write` and `content` have an argument of this name.
_provenance = provenance


def _drawn(
    fmt: str, found: dict[str, Any], text: str, settings: Any, map: Any, compare: Any, counts: Any, timings: Any
) -> bytes:
    from expandlab.figures.alt import title_of
    from expandlab.figures.render import render
    from expandlab.figures.strips import strips
    from expandlab.figures.times import times

    if timings is not None:
        figure, title = times(timings), "Measured times"
    else:
        figure = strips(map, counts, settings=settings, compare=compare)
        title = " and ".join(title_of(item.strategy) for item in (map, compare) if item is not None)
    return render(figure, fmt, title=title, description=text, provenance=_dumps(found))


def sweep_picture(fmt: str, name: str, measured: Iterable[Measurements]) -> bytes:
    """A picture of many measurements, or its data, as the bytes of a file.

    fmt: one of `FORMATS`. name: one of `expandlab.figures.sweeps.KINDS`. Equal measurements give equal bytes.

    Raises ExportError for an unknown format, ValueError for an unknown name or measurements that do not fit it.
    """
    from expandlab.figures import sweeps
    from expandlab.figures.render import render

    fmt, items = _known(fmt), list(measured)
    rows, text = sweeps.rows_of(name, items), sweeps.alt(name, items)
    found = {"figure": name, "measurements": [item.provenance() for item in items]}
    if fmt == "csv":
        return _csv(found, text, [list(rows[0]), *(list(row.values()) for row in rows)])
    if fmt == "json":
        return (_dumps({"description": text, "provenance": found, "rows": to_plain(rows)}) + "\n").encode()
    return render(sweeps.figure(name, items), fmt, title=sweeps.KINDS[name].title, description=text,
                  provenance=_dumps(found))  # fmt: skip


def save_sweep(path: str | Path, name: str, measured: Iterable[Measurements]) -> Path:
    """Write `sweep_picture(...)` to `path`; the suffix says which format. Returns the path."""
    target = Path(path)
    return _replace(target, sweep_picture(_suffix(target), name, measured))


def _csv(found: dict[str, Any], text: str, rows: Iterable[Iterable[Any]]) -> bytes:
    out = io.StringIO()
    # JSON in ASCII has no line breaks, whatever the settings hold.
    out.write(f"# description: {json.dumps(text)}\n{_CSV_LINE}{_dumps(found)}\n")
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue().encode()


def _map_rows(map: ThreadMap, compare: ThreadMap | None) -> Iterable[Iterable[Any]]:
    yield ("strategy", "thread", *MAP_COLUMNS)
    for item in (map, compare):
        if item is not None:
            columns = [getattr(item, name).tolist() for name in MAP_COLUMNS]
            for index, row in enumerate(zip(*columns, strict=True)):
                yield (item.strategy, index, *row)


def _timing_rows(timings: Measurements) -> Iterable[Iterable[Any]]:
    names = ("name", "pass_name", "median_ms", "q1_ms", "q3_ms", "samples")
    yield ("strategy", *names[1:])
    for row in (*timings.rows, *timings.totals):
        yield tuple(getattr(row, name) for name in names)


def _json(found: dict[str, Any], text: str, settings: Any, map: Any, compare: Any, counts: Any, timings: Any) -> bytes:
    held = {
        "description": text,
        "provenance": found,
        "settings": to_plain(settings),
        "counts": None if counts is None else np.asarray(counts).tolist(),
        "map": None if map is None else map.to_dict(),
        "compare": None if compare is None else compare.to_dict(),
        "timings": None if timings is None else timings.to_dict(),
    }
    return (_dumps(held) + "\n").encode()


def _dumps(value: Any) -> str:
    return json.dumps(by_key(value), ensure_ascii=True, separators=(",", ":"))


def _known(fmt: str) -> str:
    name = fmt.lower().lstrip(".")
    if name not in FORMATS:
        raise ExportError(f"{fmt!r} is no format of an export; use one of {', '.join(FORMATS)}")
    return name


def _suffix(path: Path) -> str:
    if path.suffix.lower().lstrip(".") not in FORMATS:
        raise ExportError(f"{path}: the suffix says the format; use one of .{', .'.join(FORMATS)}")
    return path.suffix.lower().lstrip(".")


def _replace(path: Path, data: bytes) -> Path:
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    return path


def read_provenance(path: str | Path) -> dict[str, Any]:
    """The provenance inside an exported file. Raises ExportError where there is none."""
    target = Path(path)
    readers: dict[str, Callable[[bytes], str | None]] = {
        "png": _from_png, "svg": _from_svg, "pdf": _from_pdf, "csv": _from_csv, "json": _from_json,
    }  # fmt: skip
    fmt = _suffix(target)
    try:
        data = target.read_bytes()
    except OSError as error:
        raise ExportError(f"{target}: cannot be read ({error.strerror or error})") from error
    try:
        text = readers[fmt](data)
        found = json.loads(text) if text else None
    except (ValueError, SyntaxError, KeyError, OSError):  # what the formats' readers raise for a damaged file
        found = None
    if not isinstance(found, dict):
        raise ExportError(f"{target}: holds no provenance; it was not written by expandlab, or was changed since")
    return found


def _from_png(data: bytes) -> str | None:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        return image.info.get("Provenance")


def _from_svg(data: bytes) -> str | None:
    from xml.etree import ElementTree

    from expandlab.figures.render import SVG_METADATA

    for element in ElementTree.fromstring(data).iter("{http://www.w3.org/2000/svg}metadata"):
        if element.get("id") == SVG_METADATA:
            return element.text
    return None


def _from_pdf(data: bytes) -> str | None:
    from expandlab.figures.render import pdf_string

    return pdf_string(data, b"/Keywords")


def _from_csv(data: bytes) -> str | None:
    for line in data.decode().splitlines():
        if not line.startswith("# "):
            return None
        if line.startswith(_CSV_LINE):
            return line.removeprefix(_CSV_LINE)
    return None


def _from_json(data: bytes) -> str | None:
    return json.dumps(json.loads(data)["provenance"])
