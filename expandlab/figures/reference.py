"""The pictures that stand in the repository for those who see a notebook without running it.

Each is made from the settings file beside it, `NAME.json` -> `NAME.svg`, by the code that Export uses. They differ
from an export in one thing: their provenance holds nothing that changes while the picture does not, as a commit or
the digest of a shader does.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from expandlab.settings import ExpansionSettings, PanelSettings, from_json


def rebuild(folder: str | Path) -> list[Path]:
    """Make every picture of a folder again from its settings file. Returns the pictures' paths.

    Raises SettingsError for a file that holds no settings, and what `export.content` raises.
    """
    made = []
    for settings_file in sorted(Path(folder).glob("*.json")):
        target = settings_file.with_suffix(".svg")
        target.write_bytes(reference_picture(from_json(settings_file)))
        made.append(target)
    return made


def reference_picture(settings: PanelSettings) -> bytes:
    """The SVG of the model that `settings` describe."""
    from expandlab import export
    from expandlab.expansion import thread_map
    from expandlab.figures.page import make

    if not isinstance(settings, ExpansionSettings):
        page = make(settings)
        return export.page_content("svg", settings, page, _lasting(settings, page.counts))
    counts = settings.counts()
    maps = [
        thread_map(counts, name, workgroup_size=settings.workgroup_size, subgroup_size=settings.subgroup_size)
        for name in (settings.strategy, settings.compare)
        if name
    ]
    return export.content(
        "svg", settings, map=maps[0], compare=maps[1] if len(maps) > 1 else None, counts=counts,
        provenance=_lasting(settings, counts),
    )  # fmt: skip


def _lasting(settings: PanelSettings, counts: np.ndarray | None) -> dict[str, Any]:
    """The part of the provenance that changes only when the picture does."""
    from expandlab import export

    full = export.provenance(settings, counts=counts)
    kept = {name: full[name] for name in ("settings", "seed", "counts_sha256")}
    return {**kept, "versions": drawn_with()}


def drawn_with() -> dict[str, Any]:
    """What decides the bytes of a drawing: the versions of matplotlib and of the FreeType that it was built with."""
    import matplotlib
    from matplotlib import ft2font

    return {"matplotlib": matplotlib.__version__, "freetype": ft2font.__freetype_version__}
