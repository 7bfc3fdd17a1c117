"""What a notebook's kernel checks on the page's GPU: the cases of tests/cases against their definitions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from definition import assert_expands
from topk_cases import CASES, scores
from topk_definition import assert_top_k, order_of

import expandlab as xl

EXPAND = json.loads((Path(__file__).parents[1] / "cases" / "expand.json").read_text())["cases"]
MOST_DST = 5000
METHODS = ("radix_select", "delegate")
# A case of more src costs a software adapter minutes on all strategies.
MANY_SRC = 2**20


def _counts(case):
    given = case["counts"]
    if isinstance(given, dict):
        return eval(given["expr"], {"np": np, "rng": np.random.default_rng(case.get("seed", 0))})
    return np.array(given, np.uint32)


def _cases():
    """(case, counts) of those below 5000 dst with a result."""
    for case in EXPAND:
        if case["expect"].get("total", MOST_DST) < MOST_DST:
            yield case, _counts(case)


def runs_in_a_page(strategy):
    """Whether WebGPU can run a strategy."""
    return not strategy.modelled and not [need for need in strategy.needs if need not in ("subgroups",)]


def expansions(device, many=True):
    """Every case on every strategy that WebGPU can run; returns (runs, what was wrong).

    many: False takes one strategy alone for the cases of more than `MANY_SRC` src.
    """
    names = [name for name, item in xl.strategies().items() if runs_in_a_page(item)]
    runs, wrong = 0, []
    for case, counts in _cases():
        named = case["call"]["strategies"]
        mine = [n for n in names if (named == "all" or n in named) and n not in case["call"].get("except", [])]
        options = {key: value for key, value in case["call"].items() if key not in ("strategies", "except")}
        for name in mine if many or len(counts) <= MANY_SRC else mine[:1]:
            try:
                result = xl.expand(counts, name, device=device, **options)
                assert result.total == case["expect"]["total"]
                if result.src is not None:
                    assert_expands(counts, result.src, result.local)
            except xl.UnsupportedError as error:
                # A cap of the strategy, which no case of so few src comes near.
                if len(counts) <= 300:
                    wrong.append(f"{case['id']} {name}: {error}")
            except Exception as error:
                wrong.append(f"{case['id']} {name}: {type(error).__name__} {error}")
            runs += 1
    return runs, wrong


def selections(device):
    """Every case of top-k on `METHODS`, and every stream; returns (runs, what was wrong)."""
    runs, wrong = 0, []
    for case in CASES:
        if "error" in case["expect"]:
            continue
        try:
            if "stream" in case:
                runs += _stream(case, device)
                continue
            values = scores(case["values"], case["dtype"], case.get("seed", 0))
            for method in METHODS:
                if method in (case.get("methods") or METHODS):
                    result = xl.top_k(values, case["k"], largest=case["largest"], method=method, device=device)
                    assert_top_k(values, case["k"], case["largest"], result)
                    runs += 1
        except Exception as error:
            wrong.append(f"{case['id']}: {type(error).__name__} {error}")
    return runs, wrong


def _stream(case, device):
    pushed, places = [], []
    with xl.TopKStream(case["k"], largest=case["largest"], device=device) as stream:
        for push in case["stream"]:
            values = scores(push["values"], case["dtype"])
            stream.push(values, push["base"])
            pushed.append(values)
            places.append(np.uint64(push["base"]) + np.arange(len(values), dtype=np.uint64))
            every, indices = np.concatenate(pushed), np.concatenate(places)
            best = order_of(every, case["largest"], indices)[: case["k"]]
            assert stream.result().indices.tolist() == indices[best].tolist()
    return len(case["stream"])
