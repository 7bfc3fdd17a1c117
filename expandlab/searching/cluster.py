"""A search on a Dask cluster: every worker scores ranges on its own devices and sends back its best.

Needs `dask[distributed]`, the extra `expandlab[dask]`, here and expandlab on the workers. A worker that is lost costs
the ranges that it had, which others take.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from expandlab.errors import DeviceError, UnsupportedError
from expandlab.searching.leaders import Leaders
from expandlab.searching.scorer import Scorer
from expandlab.searching.token import digest_of
from expandlab.user_wgsl import BodyBuffer, checked_buffer, mapping_of

CONNECT_S = 5
# Ranges for each worker: enough that a slow one does not keep the others waiting at the end.
_RANGES = 16
# How many ranges a worker has at a time, so that it never waits for the next one.
_AHEAD = 2
_NOTHING = {"passes": 0, "gpu_ms": 0.0, "words_back_per_pass": 0}


def on_cluster(
    cluster: Any, sizes: tuple[int, ...], score: str, k: int, buffers: Mapping[str, Any] | None, devices: Any, work: Any
) -> dict[str, Any]:
    """Do the work on the cluster's workers; returns what it cost. `devices`: names that the workers know, or None."""
    client, owned = _connected(cluster)
    try:
        return _handed_out(client, sizes, score, k, _plain(buffers), _names(devices), work)
    finally:
        if owned:
            client.close()


def _connected(cluster: Any) -> tuple[Any, bool]:
    try:
        from distributed import Client
    except ImportError:
        raise UnsupportedError("cluster=: needs Dask; pip install 'expandlab[dask]'") from None
    if isinstance(cluster, Client):
        return cluster, False
    try:
        return Client(cluster, timeout=CONNECT_S), True
    except (OSError, ValueError, TypeError) as error:
        raise DeviceError(f"cluster={cluster!r}: no scheduler answers there ({error})") from error


def _handed_out(
    client: Any,
    sizes: tuple[int, ...],
    score: str,
    k: int,
    buffers: dict[str, Any],
    devices: list[str] | None,
    work: Any,
) -> dict[str, Any]:
    from distributed import as_completed

    workers = max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    # The first ranges are short: they give the bound that spares the later ones their candidates.
    step = max(1, min(work.total // (workers * _RANGES) + 1, 2**40))
    cost, labels, software = dict(_NOTHING), set(), False
    under_way: dict[Any, tuple[int, int]] = {}
    answers = as_completed()

    def hand_out() -> None:
        while len(under_way) < workers * _AHEAD and (part := work.take(step)) is not None:
            arguments = (sizes, score, k, buffers, devices, part, work.leaders.items)
            future = client.submit(search_part, *arguments, pure=False)
            under_way[future] = part
            answers.add(future)

    hand_out()
    try:
        while under_way:
            future = answers.next()
            part = under_way.pop(future)
            try:
                found = future.result()
            except BaseException:
                work.give_back(part)
                raise
            work.leaders.merge(found["items"])
            cost["passes"] += found["passes"]
            both = (cost["gpu_ms"], found["gpu_ms"])
            cost["gpu_ms"] = None if None in both else sum(both)
            cost["words_back_per_pass"] = max(cost["words_back_per_pass"], found["words_back_per_pass"])
            labels |= set(found["devices"])
            software = software or found["software"]
            work.finished(part)
            hand_out()
    finally:
        for future in under_way:
            future.cancel()
    return {**cost, "devices": tuple(sorted(labels)), "software": software, "graph": None}


def _plain(buffers: Mapping[str, Any] | None) -> dict[str, Any]:
    """The arrays alone, as they travel."""
    return {name: checked_buffer(name, value).array for name, value in mapping_of(buffers).items()}


def _names(devices: Any) -> list[str] | None:
    if devices is None:
        return None
    names = list(devices) if isinstance(devices, (list, tuple)) else [devices]
    if not all(isinstance(name, str) for name in names):
        raise TypeError(
            f"devices={devices!r}: with cluster= give names that the workers' machines know, or leave it out"
        )
    return names


# One program for each device of a worker, as long as the search is the same.
_scorers: dict[tuple[str, tuple[int, ...], int, str | None], Scorer] = {}


def search_part(
    sizes: tuple[int, ...],
    score: str,
    k: int,
    buffers: dict[str, Any],
    devices: list[str] | None,
    part: tuple[int, int],
    items: list[tuple[int, int, int]],
) -> dict[str, Any]:
    """On a worker: search a range of picks, beginning with the leaders `items`."""
    from expandlab.searching.run import Work, work_on_all

    leaders = Leaders(k, items)
    scorers = _prepared(sizes, score, k, buffers, devices)
    before = [(scorer.passes, scorer.gpu_ms) for scorer in scorers]
    begin, end = part
    work = Work(end, [(0, begin)] if begin else [], leaders)
    work_on_all(scorers, work)
    times = [
        None if None in (scorer.gpu_ms, ms) else scorer.gpu_ms - ms
        for scorer, (_, ms) in zip(scorers, before, strict=True)
    ]
    return {
        "items": leaders.items,
        "passes": sum(scorer.passes - passes for scorer, (passes, _) in zip(scorers, before, strict=True)),
        "gpu_ms": None if None in times else sum(times),
        "words_back_per_pass": max(scorer.words_back for scorer in scorers),
        "devices": [scorer.device.info.label for scorer in scorers],
        "software": any(scorer.device.info.is_software for scorer in scorers),
    }


def _prepared(
    sizes: tuple[int, ...], score: str, k: int, buffers: dict[str, Any], devices: list[str] | None
) -> list[Scorer]:
    from expandlab.gpu import resolve

    given = {name: BodyBuffer(array, writes=False) for name, array in buffers.items()}
    digest = digest_of(score, given)
    names = devices or [None]
    if {key[:3] for key in _scorers} != {(digest, sizes, k)} or {key[3] for key in _scorers} != set(names):
        for scorer in _scorers.values():
            scorer.close()
        _scorers.clear()
        for name in names:
            _scorers[digest, sizes, k, name] = Scorer(sizes, score, k, given, resolve(name))
    return list(_scorers.values())
