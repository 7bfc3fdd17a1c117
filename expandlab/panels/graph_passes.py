"""The parts of the graph editor for a pass and for one of its accesses."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from expandlab.graph import editing
from expandlab.graph.declare import MODES
from expandlab.graph.usage import BUFFER_USAGES, IMAGE_USAGES
from expandlab.panels.graph_part import NONE, Part, Take, names, names_text, offer, span, span_text
from expandlab.panels.parts import button, labelled, shown

_DEFAULT = [("default", NONE)]
_USAGES = tuple(dict.fromkeys(u for table in (BUFFER_USAGES, IMAGE_USAGES) for mode in MODES for u in table[mode]))
_PARTS = ("range", "mips", "layers", "aspects")
_ANY = "\0any"
# What a pass without a cost of its own shows; the simulation takes the machine's.
_NO_COST = 10.0


class PassPart(Part):
    """A pass: its name, place, edges and cost. chosen: the menu of passes; buttons: what changes their number."""

    title = "Pass"

    def __init__(self, take: Take):
        super().__init__(take)
        self.chosen = labelled(widgets.Dropdown, "pass", "The pass that is edited")
        self.fields = {
            "name": _text("name", "What the pass is called; explicit edges follow"),
            "device": labelled(widgets.Dropdown, "device", "Where the pass runs, or may run"),
            "queue": labelled(widgets.Dropdown, "queue", "On which queue of its device the pass runs"),
            "cost_us": labelled(widgets.BoundedFloatText, "cost (µs)", "Its time alone, for schedule and timeline",
                                min=0, max=1e8, step=1),
            "after": _text("runs after", "Explicit edges: names of passes that must end before, with commas between"),
            "before": _text("runs before", "Explicit edges: names of passes that must wait, with commas between"),
            "side_effect": widgets.Checkbox(description="side effect: never culled", indent=False,
                                            tooltip="Keep the pass although nobody wants what it writes",
                                            layout=widgets.Layout(margin="0 0 0 112px", width="auto")),
        }  # fmt: skip
        self.buttons = {
            name: button(name, tip, act)
            for name, tip, act in (
                ("Inject before", "Insert a pass before this one", lambda: self._inject(before=True)),
                ("Inject after", "Insert a pass after this one", lambda: self._inject(before=False)),
                ("Remove pass", "Take this pass out",
                 lambda: self.take(editing.remove(self.document, self.name))),
                ("Earlier", "Submit this pass one place earlier",
                 lambda: self.take(editing.move(self.document, self.name, -1))),
                ("Later", "Submit this pass one place later",
                 lambda: self.take(editing.move(self.document, self.name, 1))),
            )
        }  # fmt: skip
        self.chosen.observe(self._look, "value")
        self._watch({
            "name": self._rename,
            "device": self._place,
            "queue": lambda v: self._change(queue=v or None),
            "cost_us": lambda v: self._change(cost_us=v),
            "after": lambda v: self._change(after=names(v)),
            "before": lambda v: self._change(before=names(v)),
            "side_effect": lambda v: self._change(side_effect=v or None),
        })  # fmt: skip

    @property
    def name(self) -> str:
        """Of the pass chosen; empty where there is none."""
        return self.chosen.value or ""

    def rows(self) -> list[widgets.Widget]:
        """Menu, buttons and fields."""
        first, second = list(self.buttons.values())[:3], list(self.buttons.values())[3:]
        return [self.chosen, widgets.HBox(first), widgets.HBox(second), *self.fields.values()]

    def choose(self, name: str) -> None:
        """Show a pass, where there is one of that name."""
        if name in self.chosen.options:
            self.chosen.value = name

    def _show(self) -> None:
        offer(self.chosen, list(dict.fromkeys(item["name"] for item in editing.passes(self.document))))
        item = next(iter(editing.passes_named(self.document, self.name)), {})
        fields = self.fields
        fields["name"].value = self.name
        devices = declared(self.document)
        given = item.get("device")
        options = [*_DEFAULT, *((name, name) for name in devices)]
        if len(devices) > 1:
            options.append(("any of them", _ANY))
        value: Any = given if isinstance(given, str) and given else NONE
        if isinstance(given, list):
            value = _ANY if given == list(devices) else "\0own"
        if value not in [option[1] for option in options]:
            options.append((f"any of {names_text(given)}" if isinstance(given, list) else value, value))
        offer(fields["device"], options, value)
        first = given[0] if isinstance(given, list) and given else given
        queues = devices.get(first if isinstance(first, str) else next(iter(devices)), [])
        queue = item.get("queue")
        own = [queue] if isinstance(queue, str) and queue and queue not in queues else []
        offer(fields["queue"], [*_DEFAULT, *((name, name) for name in [*queues, *own])], queue or NONE)
        cost = item.get("cost_us")
        good = isinstance(cost, (int, float)) and not isinstance(cost, bool) and 0 <= cost <= 1e8
        fields["cost_us"].value = float(cost) if good else _NO_COST
        for key in ("after", "before"):
            fields[key].value = names_text(item.get(key))
        fields["side_effect"].value = item.get("side_effect") is True
        self.enable(bool(item))

    def _rename(self, name: str) -> None:
        name = name.strip()
        if name and name != self.name:
            changed = editing.rename_pass(self.document, self.name, name)
            with self.held():
                with self.silence():
                    self.chosen.options = [name if option == self.name else option for option in self.chosen.options]
                    self.chosen.value = name
                self.take(changed)

    def _inject(self, *, before: bool) -> None:
        document, name = editing.inject(self.document, self.name, before=before)
        with self.held():
            with self.silence():
                self.chosen.options = [item["name"] for item in editing.passes(document)]
                self.chosen.value = name
            self.take(document)

    def _place(self, value: str) -> None:
        if value != "\0own":
            self._change(device=list(declared(self.document)) if value == _ANY else value or None, queue=None)

    def _change(self, **fields: Any) -> None:
        self.take(editing.change_pass(self.document, self.name, **fields))


class AccessPart(Part):
    """An access of the chosen pass. owner: the part that says which pass that is."""

    title = "Access of the pass"

    def __init__(self, take: Take, owner: PassPart):
        super().__init__(take)
        self.owner = owner
        self.chosen = labelled(widgets.Dropdown, "access", "Which access of the pass is edited")
        self.fields = {
            "resource": labelled(widgets.Dropdown, "resource", "The resource of the access"),
            "mode": labelled(widgets.Dropdown, "does", "write overwrites the whole range; read_write needs what was "
                             "there", options=list(MODES)),
            "usage": labelled(widgets.Dropdown, "usage", "As what the resource is used", options=list(_USAGES)),
            "range": _text("range (bytes)", "Bytes from .. to, the end excluded; empty = all", "all"),
            "mips": _text("mips", "Mip levels from .. to, the end excluded; empty = all", "all"),
            "layers": _text("layers", "Layers from .. to, the end excluded; empty = all", "all"),
            "aspects": _text("aspects", "Aspects from .. to, the end excluded; empty = all", "all"),
            "independent": _text(
                "independent", "Writes with the same tag declare that they do not depend on each other", "no tag"
            ),
        }  # fmt: skip
        self.buttons = {
            "Add access": button("Add access", "One more access of this pass", self._add),
            "Remove access": button("Remove access", "Take this access out", self._remove),
        }
        self.chosen.observe(self._look, "value")
        # What the owner sets by itself is followed by the new document.
        owner.chosen.observe(lambda event: None if owner.quiet else self._look(event), "value")
        self._watch({
            "resource": lambda v: self._change(resource=v, range=None, mips=None, layers=None, aspects=None),
            "mode": lambda v: self._change(mode=v),
            "usage": lambda v: self._change(usage=None if v == "storage" else v),
            **{key: lambda v, key=key: self._change(**{key: span(v)}) for key in _PARTS},
            "independent": lambda v: self._change(independent=v.strip() or None),
        })  # fmt: skip

    @property
    def number(self) -> int:
        """The place of the access among those of its pass, from 0."""
        return self.chosen.value or 0

    def rows(self) -> list[widgets.Widget]:
        """Menu, buttons and fields."""
        return [self.chosen, widgets.HBox(list(self.buttons.values())), *self.fields.values()]

    def _show(self) -> None:
        found = editing.accesses(self.document, self.owner.name)
        labels = [f"{n + 1}: {one.get('mode')} {one.get('resource')}" for n, one in enumerate(found)]
        offer(self.chosen, list(zip(labels, range(len(labels)), strict=True)))
        one = found[self.number] if self.number < len(found) else {}
        fields, known = self.fields, editing.resources(self.document)
        _offer_own(fields["resource"], list(known), one.get("resource"))
        _offer_own(fields["mode"], list(MODES), one.get("mode"))
        name = one.get("resource")
        kind = known.get(name, {}).get("kind") if isinstance(name, str) else None
        usages = list((IMAGE_USAGES if kind == "image" else BUFFER_USAGES).get(str(one.get("mode")), _USAGES))
        _offer_own(fields["usage"], usages, one.get("usage") or "storage")
        for key in _PARTS:
            fields[key].value = span_text(one.get(key))
            # What does not go with the resource stays to be seen where it was given all the same.
            shown(fields[key], (key == "range") == (kind != "image") or one.get(key) is not None)
        tag = one.get("independent")
        fields["independent"].value = "" if tag is None else str(tag)
        self.enable(bool(one))

    def _add(self) -> None:
        known = editing.resources(self.document)
        if known and self.owner.name:
            document = editing.add_access(self.document, self.owner.name, next(iter(known)))
            last = len(editing.accesses(document, self.owner.name)) - 1
            with self.held():
                self.show(document)
                with self.silence():
                    self.chosen.value = last
                self.take(document)

    def _remove(self) -> None:
        self.take(editing.remove_access(self.document, self.owner.name, self.number))

    def _change(self, **fields: Any) -> None:
        self.take(editing.change_access(self.document, self.owner.name, self.number, **fields))


def declared(document: dict[str, Any]) -> dict[str, list[str]]:
    """The devices with their queues, as far as the document can be read."""
    devices = document.get("devices")
    if not isinstance(devices, dict) or not devices:
        return {"gpu0": ["compute"]}
    return {
        name: [queue for queue in queues if isinstance(queue, str)] if isinstance(queues, list) else []
        for name, queues in devices.items()
    }


def _text(label: str, tip: str, placeholder: str = "none") -> widgets.Text:
    return labelled(widgets.Text, label, tip, placeholder=placeholder, continuous_update=False)


def _offer_own(menu: widgets.Dropdown, options: list[str], value: Any) -> None:
    """Offer what is allowed, and what stands there although it is not."""
    extra = [value] if isinstance(value, str) and value not in options else []
    offer(menu, [*options, *extra], value)
