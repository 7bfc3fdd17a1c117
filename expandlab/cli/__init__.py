"""The command line: `expandlab doctor | lab | expand | topk | graph | bench | sweep | search | shaders | figure`.

Exit 0 done, 1 a problem that the message explains, 2 wrong usage.
"""

from __future__ import annotations

import json as _json
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from expandlab.errors import ExpandlabError

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    help="How work is spread over GPU threads: show it, run it, measure it.",
)
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
DeviceName = Annotated[
    str | None, typer.Option("--device", help="Part of an adapter's name, its index, or `reference`; see doctor.")
]

Limits = Annotated[str, typer.Option(help="`default`, or `adapter` for all that the adapter has.")]
Figure = Annotated[
    str | None,
    typer.Option(
        help="Picture of a grid, or its data: time, x_limit, time_skew, x_limit_skew, passes, memory, win_map, "
        "at_once or predicted."
    ),
]
Peers = Annotated[list[str] | None, typer.Option(help="`torch`, `jax`, `cupy` or `numpy`: the same by these.")]


def _explained(command: Callable[..., None]) -> Callable[..., None]:
    """A problem that the message explains is exit code 1, without a traceback."""

    @wraps(command)
    def run(*args: Any, **kwargs: Any) -> None:
        try:
            command(*args, **kwargs)
        except (ExpandlabError, ValueError, OverflowError, OSError) as error:
            typer.echo(f"expandlab: {error}", err=True)
            raise typer.Exit(1) from None

    return run


def _print_json(value: Any) -> None:
    typer.echo(_json.dumps(value, indent=1))


@app.command()
@_explained
def doctor(json: Json = False) -> None:
    """Say which adapters, features, limits, timer and browser were found, and what to install."""
    from expandlab import doctor as _doctor

    found = _doctor.examine()
    if json:
        _print_json(found.to_dict())
    else:
        from expandlab.cli import tables

        tables.show(found)


@app.command()
@_explained
def lab(
    port: Annotated[int, typer.Option(help="Port on 127.0.0.1; 0 for any.", min=0, max=65535)] = 8888,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser.")] = True,
) -> None:
    """Open JupyterLab on the notebooks."""
    # Not `from expandlab.cli import lab`: that is this function.
    from expandlab.cli.lab import serve

    raise typer.Exit(serve(port, browser))


@app.command()
@_explained
def expand(
    counts: Annotated[Path | None, typer.Option(help="File with the N of every src: .npy .csv .json .parquet")] = None,
    column: Annotated[str | None, typer.Option(help="Column of the file.")] = None,
    kind: Annotated[str | None, typer.Option(help="A synthetic distribution instead, or `standard_library`.")] = None,
    items: Annotated[int, typer.Option(help="Number of src of the distribution.", min=0)] = 4096,
    mean: Annotated[float, typer.Option(help="Mean N of the distribution.", min=0)] = 8.0,
    max_n: Annotated[int | None, typer.Option(help="Largest N of the distribution.", min=0)] = None,
    seed: Annotated[int, typer.Option(help="Seed of the distribution.", min=0)] = 0,
    strategy: Annotated[str, typer.Option(help="A strategy, or `auto`.")] = "auto",
    device: DeviceName = None,
    capacity: Annotated[int | None, typer.Option(help="Most dst items accepted.", min=0)] = None,
    workgroup_size: Annotated[int, typer.Option(help="Threads in a workgroup: 32, 64, 128 or 256.")] = 256,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the mapping here: .npy or .csv")] = None,
    json: Json = False,
) -> None:
    """Run an expansion and print what every pass did."""
    import expandlab as xl
    from expandlab.cli import tables
    from expandlab.cli.mapping import check_output, write_mapping

    if (counts is None) == (kind is None):
        raise typer.BadParameter("give either --counts FILE or --kind NAME")
    check_output(output)
    if counts is not None:
        values = xl.counts.load(counts, column=column)
    elif kind == "standard_library":
        values = xl.counts.standard_library()
    else:
        values = xl.counts.make(kind, items, mean=mean, max_n=max_n, seed=seed)
    done = xl.expand(values, strategy, device=device, capacity=capacity, workgroup_size=workgroup_size)
    if json:
        _print_json({"src_count": len(values), "total": done.total, "report": done.report.to_dict()})
    else:
        tables.show_report(len(values), done)
    if output is not None:
        write_mapping(output, done)


@app.command()
@_explained
def topk(
    file: Annotated[Path, typer.Argument(help="Scores: .npy .csv .json .parquet")],
    k: Annotated[int, typer.Option("--k", help="How many.", min=0)],
    smallest: Annotated[bool, typer.Option("--smallest", help="The smallest instead of the largest.")] = False,
    method: Annotated[str, typer.Option(help="A method, or `auto`.")] = "auto",
    column: Annotated[str | None, typer.Option(help="Column of a table.")] = None,
    dtype: Annotated[str | None, typer.Option(help="Convert to float32, float16, int32 or uint32.")] = None,
    device: DeviceName = None,
    json: Json = False,
) -> None:
    """Select the k best scores of a file and print them with what every pass did."""
    import expandlab as xl
    from expandlab.cli import tables
    from expandlab.cli.scores import read_scores

    values = read_scores(file, column, dtype)
    done = xl.top_k(values, k, largest=not smallest, method=method, device=device)
    if json:
        _print_json({"count": len(values), "dtype": str(values.dtype), **done.to_dict()})
    else:
        tables.show_top_k(len(values), done)


@app.command()
@_explained
def bench(
    kind: Annotated[str, typer.Option(help="A distribution, or `standard_library`.")] = "uniform",
    items: Annotated[int, typer.Option(help="Number of src.", min=0)] = 2**16,
    mean: Annotated[float, typer.Option(help="Mean N.", min=0)] = 8.0,
    max_n: Annotated[int | None, typer.Option(help="Largest N.", min=0)] = None,
    seed: Annotated[int, typer.Option(help="Seed.", min=0)] = 0,
    grid: Annotated[str | None, typer.Option(help="Instead: a grid by name or a JSON file, as of `sweep`.")] = None,
    minutes: Annotated[float, typer.Option(help="A grid ends after so long; start it again to go on.", min=0)] = 8.0,
    strategy: Annotated[list[str] | None, typer.Option(help="A strategy; repeat for several; all if left out.")] = None,
    device: DeviceName = None,
    workgroup_size: Annotated[int, typer.Option(help="Threads in a workgroup: 32, 64, 128 or 256.")] = 256,
    repeats: Annotated[
        int | None, typer.Option(help="Rounds, 20 if left out; in each everything is sampled once.", min=1)
    ] = None,
    limits: Limits = "default",
    checked: Annotated[
        str | None, typer.Option(help="Run-time checks in the shaders: yes (if left out), no or both.")
    ] = None,
    at_once: Annotated[int, typer.Option(help="So many expansions side by side.", min=1)] = 1,
    peers: Peers = None,
    verify: Annotated[str | None, typer.Option(help="Where outputs are compared: auto, host or device.")] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write data or a picture: .json .csv .png .svg .pdf"),
    ] = None,
    figure: Figure = None,
    json: Json = False,
) -> None:
    """Time every pass of some strategies on the same counts: checked first, warm, in turns, beside the limits."""
    from expandlab.cli import benching, tables

    how = benching.checked_of(checked) if checked else None
    if grid is not None:
        benching.check_output(output)
        if output is None:
            raise typer.BadParameter("a grid needs --output FILE.json; finished cells are kept beside it")
        swept = benching.grid(
            grid, benching.store_beside(output), output, devices=[device] if device else None, cluster=None,
            limits=limits, minutes=minutes, strategies=tuple(strategy or ()), repeats=repeats, checked=how,
            peers=tuple(peers or ()), verify=verify, figure=figure,
        )  # fmt: skip
        _print_json(swept.to_dict()) if json else tables.show_sweep(swept)
        return
    benching.check_output(output)
    recipe = {"kind": kind, "items": items, "mean": mean, "max_n": max_n, "seed": seed}
    done = benching.one(
        recipe, strategy or [], device=device, limits=limits, workgroup_size=workgroup_size, repeats=repeats or 20,
        checked=True if how is None else how, at_once=at_once, peers=peers or (), verify=verify or "auto",
    )  # fmt: skip
    _print_json(done.to_dict()) if json else tables.show_times(done)
    if output is not None:
        benching.write(output, done)


@app.command()
@_explained
def sweep(
    grid: Annotated[str, typer.Argument(help="goals, topk, skew, at_once, workgroups, quick, or a JSON file of axes.")],
    store: Annotated[Path, typer.Option(help="File that keeps finished cells; start again with it to go on.")],
    device: Annotated[list[str] | None, typer.Option(help="A device; repeat for several.")] = None,
    cluster: Annotated[str | None, typer.Option(help="Address of a Dask scheduler whose workers measure.")] = None,
    limits: Limits = "default",
    minutes: Annotated[float | None, typer.Option(help="End after so long.", min=0)] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Measure failed cells again.")] = False,
    peers: Peers = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all, or a picture: .json .csv .png .svg .pdf"),
    ] = None,
    figure: Figure = None,
    json: Json = False,
) -> None:
    """Measure a grid, on one device or a cluster; stop it at any moment and start it again."""
    from expandlab.cli import benching, tables

    benching.check_output(output)
    done = benching.grid(
        grid, store, output, devices=device, cluster=cluster, limits=limits, minutes=minutes,
        retry_failed=retry_failed, peers=tuple(peers or ()), figure=figure,
    )  # fmt: skip
    _print_json(done.to_dict()) if json else tables.show_sweep(done)


@app.command()
@_explained
def scale(
    device: Annotated[list[str], typer.Option(help="Part of an adapter's name, or its index; repeat for each device.")],
    seconds: Annotated[float, typer.Option(help="About how long the first device searches.", min=0.01)] = 5.0,
    rounds: Annotated[int, typer.Option(help="Of each measurement.", min=1)] = 3,
    plan_ms: Annotated[float, typer.Option(help="Length of a pass that declares 100 us.", min=0.01)] = 10.0,
    items: Annotated[int, typer.Option(help="Items of the expansion.", min=24)] = 2**24,
    limits: Limits = "default",
    json: Json = False,
) -> None:
    """Say what several devices gain over the first, and how far the simulated timeline is off the measured one."""
    from expandlab.cli import scaling as _scaling
    from expandlab.measuring.scaling import scaling

    opened = _scaling.opened(device, limits)
    found = scaling(opened, seconds=seconds, rounds=rounds, plan_ms=plan_ms, items=items)
    _print_json(found.to_dict()) if json else _scaling.show(found)


class _Mode(StrEnum):
    dag = "dag"
    chain = "chain"


class _Schedule(StrEnum):
    depth = "depth"
    list = "list"
    heft = "heft"
    optimal = "optimal"


@app.command()
@_explained
def graph(
    file: Annotated[
        Path | None, typer.Argument(help="A frame graph (JSON): passes with accesses, or with slots.")
    ] = None,
    mode: Annotated[_Mode, typer.Option(help="`chain` links every access to the one before it, for comparison.")] = (
        _Mode.dag
    ),
    schedule: Annotated[_Schedule, typer.Option(help="How the order is chosen.")] = _Schedule.depth,
    tags: Annotated[bool, typer.Option("--tags/--no-tags", help="Take declared independence into account.")] = True,
    dot: Annotated[bool, typer.Option("--dot", help="Print the plan for Graphviz instead.")] = False,
    gains: Annotated[
        bool, typer.Option("--gains", help="Instead: time on a device what declaring independence gains.")
    ] = False,
    device: DeviceName = None,
    json: Json = False,
) -> None:
    """Plan a frame graph: order, barriers, waits, copies, memory."""
    from expandlab.cli import planning

    if dot and json:
        raise typer.BadParameter("give --dot or --json, not both")
    if (file is None) != gains:
        raise typer.BadParameter("give the file of a graph, or --gains without one")
    if file is None:
        from expandlab.measuring.independence import measure_independence

        timed = measure_independence(device)
        _print_json({**timed.to_dict(), "gained_us": timed.gained_us}) if json else planning.show_gains(timed)
        return
    plan = planning.compiled(file, mode.value, schedule.value, tags)
    if json:
        _print_json({**plan.to_dict(), "timeline": plan.simulate().to_dict()})
    elif dot:
        typer.echo(plan.to_dot(), nl=False)
    else:
        planning.show(plan)


@app.command()
@_explained
def search(
    file: Annotated[Path, typer.Argument(help="Relics: a scanner's export or an optimizer's save (JSON).")],
    k: Annotated[int, typer.Option("--k", help="How many builds.", min=1)] = 20,
    weight: Annotated[list[str] | None, typer.Option(help="STAT=WEIGHT; repeat for several.")] = None,
    minimum: Annotated[list[str] | None, typer.Option(help="STAT=LEAST SUM; repeat for several.")] = None,
    device: Annotated[
        list[str] | None, typer.Option("--device", help="Part of an adapter's name, or its index; repeat for several.")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write the builds here: .csv or .json")] = None,
    json: Json = False,
) -> None:
    """Score every loadout of six relics on the GPU and list the best."""
    from expandlab.cli import builds

    builds.check_output(output)
    found = builds.find(file, k, weight, minimum, device)
    if json:
        _print_json(builds.plain(found))
    else:
        builds.show(found)
    builds.write(output, found)


@app.command()
@_explained
def shaders(
    name: Annotated[str, typer.Argument(help="A strategy, or a method of top-k.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the files; it is made.")],
    max_src: Annotated[int, typer.Option(help="Most src that the buffers are sized for.", min=0)] = 65536,
    max_dst: Annotated[int, typer.Option(help="Most items that the buffers are sized for.", min=0)] = 1048576,
    workgroup_size: Annotated[int, typer.Option(help="Threads in a workgroup: 32, 64, 128 or 256.")] = 256,
    max_n: Annotated[int, typer.Option(help="A method: most scores.", min=1)] = 1048576,
    k: Annotated[int | None, typer.Option("--k", help="A method: how many; 1024 if left out.", min=1)] = None,
    dtype: Annotated[str, typer.Option(help="A method: float32, float16, int32 or uint32.")] = "float32",
    smallest: Annotated[bool, typer.Option("--smallest", help="A method: the smallest.")] = False,
    json: Json = False,
) -> None:
    """Write the WGSL, bind-group layouts, buffers and launches of a strategy or method, for other languages."""
    import expandlab as xl
    from expandlab.expansion import portable
    from expandlab.topk import portable as topk_portable

    if name in xl.top_k_methods():
        k = min(1024, max_n) if k is None else k
        plan = topk_portable.export(name, out, max_n=max_n, k=k, dtype=dtype, largest=not smallest)
    else:
        plan = portable.export(name, out, max_src=max_src, max_dst=max_dst, workgroup_size=workgroup_size)
    if json:
        _print_json(plan)
    else:
        files = len({item["shader"] for item in plan["passes"]})
        typer.echo(f"wrote {out / 'plan.json'} and {files} shaders: {len(plan['passes'])} passes")


@app.command()
@_explained
def figure(
    settings: Annotated[Path, typer.Argument(help="Settings of a panel, as its Copy settings gives them (JSON).")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Picture or data: .png .svg .pdf .csv .json")],
    device: DeviceName = None,
    json: Json = False,
) -> None:
    """Make a panel's export from its settings: the same bytes as the panel's own."""
    from expandlab import export
    from expandlab.settings import ExpansionSettings, from_json

    chosen = from_json(settings)
    if device is not None:
        if not isinstance(chosen, ExpansionSettings):
            raise typer.BadParameter(f"--device: a picture of the panel {chosen.panel!r} is drawn without a device")
        chosen = chosen.replace(device=device)
    path = export.save(output, chosen)
    if json:
        _print_json({"file": str(path), "settings": chosen.to_dict()})
    else:
        typer.echo(f"wrote {path}")
