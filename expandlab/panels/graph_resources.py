"""The parts of the graph editor for resources, and for devices with their queues."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from expandlab.graph import editing
from expandlab.graph.frame_graph import MOST_BYTES
from expandlab.panels.graph_part import Part, Take, offer
from expandlab.panels.parts import button, labelled, shown

_COUNTS = {"mips": "mip levels", "layers": "array layers", "aspects": "planes"}


class ResourcePart(Part):
    """A resource: its kind, extent and origin. chosen: the menu of resources."""

    title = "Resource"

    def __init__(self, take: Take):
        super().__init__(take)
        self.chosen = labelled(widgets.Dropdown, "edit resource", "The resource that is edited")
        self.fields = {
            "name": labelled(widgets.Text, "called", "Its name; accesses and outputs follow", continuous_update=False),
            "kind": labelled(widgets.Dropdown, "kind", "A buffer has bytes, an image mips, layers and aspects",
                             options=["buffer", "image"]),
            "size": labelled(widgets.BoundedIntText, "size (bytes)", "Bytes of the buffer", min=0, max=MOST_BYTES),
            **{key: labelled(widgets.BoundedIntText, label, f"{key} of the image", min=1, max=2**16)
               for key, label in _COUNTS.items()},
            "imported": _check("imported: contents from outside", "Otherwise transient: it lives within one run"),
            "output": _check("output: wanted after the run", "Passes that write it are kept"),
        }  # fmt: skip
        self.buttons = {
            "New buffer": button("New buffer", "Declare one more buffer", lambda: self._new("buffer")),
            "New image": button("New image", "Declare one more image", lambda: self._new("image")),
            "Remove resource": button(
                "Remove resource", "Take this resource out; accesses of it stay and are named",
                lambda: self.take(editing.remove_resource(self.document, self.name)),
            ),
        }  # fmt: skip
        self.chosen.observe(self._look, "value")
        self._watch({
            "name": self._rename,
            "kind": self._turn_into,
            "size": lambda v: self._change(size=v),
            **{key: lambda v, key=key: self._change(**{key: v}) for key in _COUNTS},
            "imported": lambda v: self._change(imported=v or None),
            "output": lambda v: self.take(editing.set_output(self.document, self.name, v)),
        })  # fmt: skip

    @property
    def name(self) -> str:
        """Of the resource chosen; empty where there is none."""
        return self.chosen.value or ""

    def rows(self) -> list[widgets.Widget]:
        """Menu, buttons and fields."""
        return [self.chosen, widgets.HBox(list(self.buttons.values())), *self.fields.values()]

    def choose(self, name: str) -> None:
        """Show a resource, where there is one of that name."""
        if name in self.chosen.options:
            self.chosen.value = name

    def _show(self) -> None:
        known = editing.resources(self.document)
        offer(self.chosen, list(known))
        item, fields = known.get(self.name, {}), self.fields
        fields["name"].value = self.name
        kind = "image" if item.get("kind") == "image" else "buffer"
        fields["kind"].value = kind
        for key in ("size", *_COUNTS):
            value, control = item.get(key, 1), fields[key]
            if isinstance(value, int) and not isinstance(value, bool):
                control.value = min(control.max, max(control.min, value))
            shown(control, (key == "size") == (kind == "buffer"))
        fields["imported"].value = item.get("imported") is True
        fields["output"].value = self.name in editing.outputs(self.document)
        self.enable(bool(item))

    def _new(self, kind: str) -> None:
        document, name = editing.add_resource(self.document, kind)
        with self.held():
            with self.silence():
                self.chosen.options = list(editing.resources(document))
                self.chosen.value = name
            self.take(document)

    def _rename(self, name: str) -> None:
        name = name.strip()
        if name and name != self.name:
            changed = editing.rename_resource(self.document, self.name, name)
            with self.held():
                with self.silence():
                    self.chosen.options = list(editing.resources(changed))
                    self.choose(name)
                self.take(changed)

    def _turn_into(self, kind: str) -> None:
        image = {"size": None, "mips": 1, "layers": 1}
        buffer = {"size": 1024, "format": None, **dict.fromkeys(_COUNTS)}
        self._change(kind=kind, **(image if kind == "image" else buffer))

    def _change(self, **fields: Any) -> None:
        self.take(editing.change_resource(self.document, self.name, **fields))


class DevicePart(Part):
    """Devices and queues, a device on each line."""

    title = "Devices and queues"

    def __init__(self, take: Take):
        super().__init__(take)
        text = widgets.Textarea(
            continuous_update=False, placeholder="gpu0: compute", rows=3,
            layout=widgets.Layout(width="100%", margin="2px 0 0"),
        )  # fmt: skip
        text.tooltip = "A device on each line: its name, a colon, its queues with commas between; empty = the default"
        self.fields = {"devices": text}
        self._watch({"devices": self._typed})

    def _show(self) -> None:
        devices = self.document.get("devices")
        lines = []
        for name, queues in devices.items() if isinstance(devices, dict) else ():
            lines.append(f"{name}: {', '.join(map(str, queues)) if isinstance(queues, list) else queues}")
        self.fields["devices"].value = "\n".join(lines)

    def _typed(self, text: str) -> None:
        found = {}
        for line in text.splitlines():
            name, _, queues = line.partition(":")
            if line.strip():
                found[name.strip()] = [part.strip() for part in queues.split(",") if part.strip()]
        document = dict(self.document)
        document.pop("devices", None)
        self.take({"devices": found, **document} if found else document)


def _check(label: str, tip: str) -> widgets.Checkbox:
    return widgets.Checkbox(
        description=label, tooltip=tip, indent=False, layout=widgets.Layout(margin="0 0 0 112px", width="auto")
    )
