"""Puts one frame graph into another: its passes and buffers under new names, on a device of the other's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from expandlab.graph.declare import Pass
from expandlab.graph.frame_graph import FrameGraph
from expandlab.graph.kernel import Kernel
from expandlab.graph.launch import Draws, Repeat


def include(
    graph: FrameGraph, other: FrameGraph, *, name: Callable[[str], str], shared: Mapping[str, str], device: str
) -> None:
    """Add the passes of `other` to the end of `graph`, to run on `device`.

    name: the new name of a pass or buffer. shared: {buffer of `other`: buffer of `graph`} for what the two have in
    common; the buffer is declared in `graph` already. Outputs of `other` are not outputs of `graph`.
    """
    names = {resource: shared.get(resource) or name(resource) for resource in other.resources}
    for resource, item in other.resources.items():
        if resource not in shared:
            graph.resources[names[resource]] = replace(item, name=names[resource])
    for item in other.passes.values():
        graph.passes[name(item.name)] = _moved(item, names, name, device)


def _moved(item: Pass, names: Mapping[str, str], name: Callable[[str], str], device: str) -> Pass:
    kernel = item.kernel
    return replace(
        item,
        name=name(item.name),
        accesses=tuple(replace(access, resource=names[access.resource]) for access in item.accesses),
        kernel=None if kernel is None else _bound(kernel, names),
        devices=(device,),
        after=tuple(name(other) for other in item.after),
        before=tuple(name(other) for other in item.before),
    )


def _bound(kernel: Kernel, names: Mapping[str, str]) -> Kernel:
    launch = kernel.workgroups
    if isinstance(launch, str):
        launch = names[launch]
    elif isinstance(launch, Repeat):
        launch = replace(launch, buffer=names[launch.buffer])
    elif isinstance(launch, Draws):
        launch = replace(launch, buffer=names[launch.buffer], drawn=names[launch.drawn])
    elif len(launch) == 2:
        launch = (names[launch[0]], launch[1])
    bindings = {variable: names[resource] for variable, resource in kernel.resources().items()}
    return replace(kernel, bindings=bindings, workgroups=launch)
