"""The page of the timings panel: one view of the package's own measurements, or of the user's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from expandlab.figures import sweeps
from expandlab.figures.canvas import Canvas, defaults, plural
from expandlab.figures.page import Page
from expandlab.measuring import Measurements
from expandlab.measuring.packed import about_shipped, load_shipped, unpack
from expandlab.measuring.views import VIEWS, chosen
from expandlab.settings.timings import OWN, TimingSettings

EMPTY = "Not measured yet: press Run."


def page(settings: TimingSettings) -> Page:
    """The page that `settings` describe. Raises ValueError where no measurement fits them."""
    every = measured(settings)
    found = chosen(every, settings.choice)
    if settings.data == OWN and not (found and sweeps.KINDS[settings.view].rows(found)):
        return _empty(settings)
    if settings.data != OWN and not chosen(every, replace(settings.choice, kind=None)):
        raise ValueError(f"view={settings.view!r}: {settings.data} has no such times; choose 'own' and press Run")
    if not found:
        kinds = sorted({str(item.input.get("kind")) for item in every})
        raise ValueError(f"kind={settings.kind!r}: {settings.data} has no times of it; use one of {', '.join(kinds)}")
    where = sentence(found, settings)
    rows = sweeps.rows_of(settings.view, found)
    head = tuple(rows[0])
    return Page(
        title=sweeps.KINDS[settings.view].title,
        description=f"{sweeps.alt(settings.view, found)} {where} {best(rows)}".strip(),
        figure=sweeps.figure(settings.view, found, where),
        counts=None,
        head=head,
        rows=[tuple(_plain(row[name]) for name in head) for row in rows],
        data={"rows": rows, "about": _about(settings)},
        provenance=_provenance(found),
    )


def measured(settings: TimingSettings) -> list[Measurements]:
    """All measurements that the settings browse."""
    if settings.data != OWN:
        return load_shipped(settings.data)
    return [] if settings.measured is None else unpack(dict(settings.measured), "measured")


def sentence(found: Sequence[Measurements], settings: TimingSettings) -> str:
    """Which inputs are shown."""
    if not found:
        return ""
    kinds = list(dict.fromkeys(str(item.input.get("kind")) for item in found))
    means = sorted({float(item.input["mean"]) for item in found if item.input.get("mean")})
    powers = sorted({round(float(np.log2(item.total))) for item in found})
    size = f"P2 = 2^{powers[0]}" + (f" to 2^{powers[-1]}" if len(powers) > 1 else "")
    mean = f"mean N {' '.join(f'{value:g}' for value in means)}, " if means else ""
    several = f"{plural(len(found), 'input')}: " if len(found) > 1 else ""
    named = ", ".join(kinds) if len(kinds) < 4 else f"{len(kinds)} kinds of N"
    skews = VIEWS[settings.view] in ("skew", "map") and "sigma" in str(found[0].input.get("shape"))
    return f"{several}{named}{' of growing spread' if skews else ''}, {mean}{size}."


def best(rows: Sequence[dict[str, Any]]) -> str:
    """What the picture's numbers come to, for those who do not see it."""
    values = [name for name in ("x_limit", "ns_per_item", "ms") if rows and rows[0].get(name) is not None]
    names = list(dict.fromkeys(row["name"] for row in rows))
    if not values or len(names) < 2:
        return ""
    value = values[0]
    medians = {n: float(np.median([row[value] for row in rows if row["name"] == n and row[value]])) for n in names}
    low, high = min(medians, key=medians.__getitem__), max(medians, key=medians.__getitem__)
    unit = {"x_limit": "times the limit", "ns_per_item": "ns for each item", "ms": "ms"}[value]
    return f"Medians over what is shown: {low} {medians[low]:.3g}, {high} {medians[high]:.3g} {unit}."


def _plain(value: Any) -> Any:
    if value is None:
        return ""
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _about(settings: TimingSettings) -> dict[str, Any]:
    return {} if settings.data == OWN else about_shipped(settings.data)


def _provenance(found: Sequence[Measurements]) -> dict[str, Any]:
    """Where the times come from, beside where the picture does."""
    first = found[0]
    return {
        "device": {"name": first.device, "driver": first.driver, "software": first.software},
        "timer": ", ".join(sorted({item.timer for item in found})),
        "measured_by": {"versions": first.versions, "commit": first.commit},
        "counts_sha256": sorted({item.counts_sha256 for item in found}),
        "shader_sha256": {name: sha for item in found for name, sha in item.shader_sha256.items()},
    }


def _empty(settings: TimingSettings) -> Page:
    kind = sweeps.KINDS[settings.view]
    with defaults():
        canvas = Canvas(sweeps.WIDTH, 160)
        canvas.text(36, 48, kind.title, 17, weight="bold")
        canvas.text(36, 90, EMPTY, 14, weight="bold")
    return Page(kind.title, f"{kind.title}. {EMPTY}", canvas.figure, None, ("name",), [], {"rows": [], "about": {}})
