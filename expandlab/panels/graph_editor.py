"""The editor of a graph's document: a pass and one of its accesses at a time, or all of it as JSON."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from expandlab.graph import editing
from expandlab.graph.declare import MODES
from expandlab.graph.usage import IMAGE_USAGES
from expandlab.panels.parts import button, group, labelled
from expandlab.panels.silence import Silent

_NONE = ""
_USAGES = tuple(dict.fromkeys(usage for usages in IMAGE_USAGES.values() for usage in usages))


class GraphEditor(Silent):
    """Widgets that change a document. document: as it stands. complaint: what is wrong with the text, or empty.

    change: called with nothing whenever the user changed the document.
    """

    def __init__(self, change: Callable[[], None]):
        super().__init__()
        self._change = change
        self.document: dict[str, Any] = {}
        self.complaint = ""
        self.chosen = labelled(widgets.Dropdown, "pass", "The pass that is edited")
        self.device = labelled(widgets.Dropdown, "device", "Where the pass runs")
        self.queue = labelled(widgets.Dropdown, "queue", "On which queue of its device the pass runs")
        self.cost = labelled(widgets.BoundedFloatText, "cost (µs)", "Its time alone, for schedule and timeline",
                             min=0, max=1e6, step=1)  # fmt: skip
        self.access = labelled(widgets.Dropdown, "access", "Which access of the pass is edited")
        self.resource = labelled(widgets.Dropdown, "resource", "The resource of the access")
        self.mode = labelled(
            widgets.Dropdown, "does", "write overwrites the whole range; read_write needs what was there",
            options=list(MODES),
        )  # fmt: skip
        self.usage = labelled(widgets.Dropdown, "usage", "As what the resource is used",
                              options=[*_USAGES, "uniform", "indirect", "index"])  # fmt: skip
        self.range = labelled(widgets.Text, "range (bytes)", "Bytes from .. to, the end excluded; empty = all",
                              placeholder="all", continuous_update=False)  # fmt: skip
        self.tag = labelled(
            widgets.Text, "independent", "Writes with the same tag declare that they do not depend on each other",
            placeholder="no tag", continuous_update=False,
        )  # fmt: skip
        self.text = widgets.Textarea(
            continuous_update=False, placeholder="The graph as JSON",
            layout=widgets.Layout(width="100%", height="230px", margin="2px 0 0"),
        )  # fmt: skip
        self.text.tooltip = "The graph as JSON"
        self.buttons = {
            name: button(name, tip, act)
            for name, tip, act in (
                ("Inject before", "Insert a pass before this one", lambda: self._inject(before=True)),
                ("Inject after", "Insert a pass after this one", lambda: self._inject(before=False)),
                ("Remove pass", "Take this pass out", lambda: self._take(editing.remove(self.document, self._pass))),
                ("Add access", "One more access of this pass", self._add),
                ("Remove access", "Take this access out", self._remove_access),
            )
        }
        self.text.observe(self._typed, "value")
        for control in (self.chosen, self.access):
            control.observe(self._look, "value")
        for control, act in (
            (self.device, lambda v: self._of_pass(device=v or None, queue=None)),
            (self.queue, lambda v: self._of_pass(queue=v or None)),
            (self.cost, lambda v: self._of_pass(cost_us=v)),
            (self.resource, lambda v: self._of_access(resource=v, range=None)),
            (self.mode, lambda v: self._of_access(mode=v)),
            (self.usage, lambda v: self._of_access(usage=None if v == "storage" else v)),
            (self.range, lambda v: self._of_access(range=_range(v))),
            (self.tag, lambda v: self._of_access(independent=v.strip() or None)),
        ):
            control.observe(lambda event, act=act: None if self.quiet else act(event["new"]), "value")

    def groups(self) -> tuple[widgets.VBox, ...]:
        """The groups of controls."""
        first, second = list(self.buttons.values())[:3], list(self.buttons.values())[3:]
        return (
            group("Edit a pass", [self.chosen, widgets.HBox(first), self.device, self.queue, self.cost]),
            group(
                "Edit an access",
                [self.access, widgets.HBox(second), self.resource, self.mode, self.usage, self.range, self.tag],
            ),
            group("Graph as JSON", [self.text]),
        )

    def show(self, document: Any) -> None:
        """Show a document, without calling `change`."""
        self.document = copy.deepcopy(dict(document))
        self.complaint = ""
        with self.silence():
            self.text.value = json.dumps(self.document, indent=1)
            names = [item["name"] for item in editing.passes(self.document)]
            _offer(self.chosen, list(dict.fromkeys(names)))
            self._show_pass()

    @property
    def _pass(self) -> str:
        return self.chosen.value or ""

    @property
    def _place(self) -> int:
        return self.access.value or 0

    def _show_pass(self) -> None:
        item = next(iter(editing.passes_named(self.document, self._pass)), {})
        devices = self.document.get("devices")
        devices = devices if isinstance(devices, dict) and devices else {"gpu0": ["compute"]}
        given = item.get("device")
        own = "any of " + ", ".join(map(str, given)) if isinstance(given, list) else ""
        options = [("default", _NONE), *((name, name) for name in devices), *([(own, own)] if own else [])]
        _offer(self.device, options, own or given or _NONE)
        queues = devices.get(given if isinstance(given, str) else next(iter(devices)), [])
        _offer(self.queue, [("default", _NONE), *((str(name), str(name)) for name in queues)], item.get("queue"))
        cost = item.get("cost_us")
        self.cost.value = cost if isinstance(cost, (int, float)) else 10.0
        found = editing.accesses(self.document, self._pass)
        labels = [f"{n + 1}: {one.get('mode')} {one.get('resource')}" for n, one in enumerate(found)]
        _offer(self.access, list(zip(labels, range(len(labels)), strict=True)))
        one = found[self._place] if self._place < len(found) else {}
        resources = self.document.get("resources")
        _offer(self.resource, list(resources) if isinstance(resources, dict) else [], one.get("resource"))
        _offer(self.mode, list(self.mode.options), one.get("mode"))
        _offer(self.usage, list(self.usage.options), one.get("usage", "storage"))
        bounds = one.get("range")
        self.range.value = (
            f"{bounds[0]} .. {bounds[1]}" if isinstance(bounds, (list, tuple)) and len(bounds) == 2 else ""
        )
        self.tag.value = one.get("independent") or ""
        for control in (self.resource, self.mode, self.usage, self.range, self.tag):
            control.disabled = not one

    def _look(self, _: Any) -> None:
        if not self.quiet:
            with self.silence():
                self._show_pass()

    def _typed(self, event: Any) -> None:
        if self.quiet:
            return
        try:
            found = json.loads(event["new"])
            if not isinstance(found, dict):
                raise ValueError("give an object with resources and passes")
        except (ValueError, RecursionError) as error:
            self.complaint = f"the graph as typed is not JSON: {error}"
            self._change()
            return
        self._take(found)

    def _take(self, document: dict[str, Any]) -> None:
        self.show(document)
        self._change()

    def _inject(self, *, before: bool) -> None:
        document, name = editing.inject(self.document, self._pass, before=before)
        self.show(document)
        with self.silence():
            self.chosen.value = name
            self._show_pass()
        self._change()

    def _add(self) -> None:
        resources = self.document.get("resources")
        if isinstance(resources, dict) and resources:
            self._take(editing.add_access(self.document, self._pass, next(iter(resources))))

    def _remove_access(self) -> None:
        self._take(editing.remove_access(self.document, self._pass, self._place))

    def _of_pass(self, **fields: Any) -> None:
        self._take(editing.change_pass(self.document, self._pass, **fields))

    def _of_access(self, **fields: Any) -> None:
        self._take(editing.change_access(self.document, self._pass, self._place, **fields))


def _offer(menu: widgets.Dropdown, options: list[Any], value: Any = None) -> None:
    """Give a menu its options; what it showed stays where it still can, unless `value` says otherwise."""
    wanted = menu.value if value is None else value
    if list(menu.options) != options:
        menu.options = options
    values = [option[1] if isinstance(option, tuple) else option for option in options]
    if wanted in values:
        menu.value = wanted
    elif values:
        menu.value = values[0]


def _range(text: str) -> Any:
    """Two whole numbers as typed; the text itself where it is none, for the planner's error to name."""
    parts = [part for part in re.split(r"[.,;:\s]+", text.strip(" ,;[]()")) if part]
    if not parts:
        return None
    return [int(part) for part in parts] if all(part.isdecimal() for part in parts) else text
