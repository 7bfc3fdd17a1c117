"""The accounts of the strategies in docs/strategies, written from the strategies themselves.

    python docs/site/accounts.py      writes what stands between the two marks of each page anew

A page says which strategies it tells of: `<!-- strategies: flat append -->`, up to `<!-- end of strategies -->`. Their
names, formulas, needs and caps come from `xl.strategies()`, when they win and lose from their modules' docstrings.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import expandlab as xl  # noqa: E402
from expandlab.expansion.strategy import Strategy  # noqa: E402

PAGES = ROOT / "docs" / "strategies"
BLOCK = re.compile(r"(<!-- strategies: ([\w ]+) -->\n).*?(<!-- end of strategies -->)", re.DOTALL)
# What the table works the formula out for.
P1, P2, WG = 2**16, 2**20, 256


def memory(strategy: Strategy, p1: int = P1, p2: int = P2, wg: int = WG) -> float | None:
    """Bytes between the passes by the strategy's own formula; None where it has none."""
    if not strategy.memory_formula:
        return None
    names = {"P1": p1, "P2": p2, "WG": wg, "sum": sum, "min": min, "range": range}
    return eval(strategy.memory_formula, names)


def _bytes(strategy: Strategy) -> str:
    size = memory(strategy)
    if size is None or (strategy.max_src or P1) < P1:
        return "–"
    return f"{size / 2**20:.2f} MiB" if size >= 2**20 else f"{size / 2**10:.0f} KiB"


def _caps(strategy: Strategy) -> str:
    caps = (("P1", strategy.max_src), ("P2", strategy.max_dst))
    return ", ".join(f"{what} ≤ {cap:,}" for what, cap in caps if cap) or "–"


def _order(strategy: Strategy) -> str:
    if strategy.modelled:
        return "modelled only"
    return "that of the atomics" if strategy.atomic_order else "that of the src"


def table(strategies: list[Strategy]) -> str:
    """One row for each strategy."""
    rows = [
        "| strategy | in the source document | bytes between the passes | for 65,536 src and 1,048,576 items | "
        "order of the items | needs | at most |",
        "| --- | --- | --- | ---: | --- | --- | --- |",
    ]
    for item in strategies:
        formula = f"`{item.memory_formula}`" if item.memory_formula else "none of ours"
        needs = ", ".join(f"`{name}`" for name in item.needs) or "–"
        solution = f"solution {item.solution}" if item.solution else "–"
        rows.append(
            f"| `{item.name}` | {solution} | {formula} | {_bytes(item)} | {_order(item)} | {needs} | {_caps(item)} |"
        )
    return "\n".join(rows)


def account(strategy: Strategy) -> str:
    """When the strategy wins, when it loses, and why: its module's docstring, as Markdown."""
    module = import_module(f"expandlab.expansion.strategies.{strategy.name}")
    text = re.sub(r"(https?://[^\s;,)]*[^\s;,).:])", r"<\1>", inspect.getdoc(module) or "")
    text = re.sub(r"\b(Wins|Loses)\b", r"**\1**", text)
    text = re.sub(r"\bSource:", "**Source:**", text)
    code = [f"[the module](../../expandlab/expansion/strategies/{strategy.name}.py)"]
    if (ROOT / "shaders" / "expansion" / strategy.name).is_dir():
        code.append(f"[its shaders](../../shaders/expansion/{strategy.name}/)")
    return f"### `{strategy.name}`\n\n{text}\n\nCode: {', '.join(code)}."


def filled(page: str) -> str:
    """The text of a page with its block written anew."""

    def block(found: re.Match[str]) -> str:
        strategies = [xl.strategies()[name] for name in found[2].split()]
        parts = [table(strategies), *map(account, strategies)]
        return found[1] + "\n" + "\n\n".join(parts) + "\n\n" + found[3]

    return BLOCK.sub(block, page)


def told_of(page: str) -> list[str]:
    """Names of the strategies that a page tells of."""
    return [name for found in BLOCK.finditer(page) for name in found[2].split()]


if __name__ == "__main__":
    for path in sorted(PAGES.glob("*.md")):
        path.write_text(filled(path.read_text(encoding="utf-8")), encoding="utf-8")
