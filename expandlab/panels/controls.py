"""The controls of the expansion panel: settings in, changed settings out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ipywidgets as widgets

from expandlab.expansion import strategies
from expandlab.gpu.adapters import DeviceInfo
from expandlab.panels.device_menu import device_menu, device_options
from expandlab.panels.parts import group, labelled
from expandlab.panels.sources import SourceControls
from expandlab.settings import ExpansionSettings

# A menu takes the value None for "nothing chosen" and shows a blank.
_NONE = ""


class Controls(SourceControls):
    """Widgets for every field of `ExpansionSettings`, in two groups.

    change: called whenever the user moves something. on_page: of the menu of devices.
    """

    def __init__(
        self, settings: ExpansionSettings, devices: list[tuple[DeviceInfo, str]], change: Callable[[], None],
        *, on_page: Callable[[], None] | None = None,
    ):  # fmt: skip
        super().__init__(settings, change)
        names = strategies()
        titles = [(f"{name} – {item.title}" + " (modelled only)" * item.modelled, name) for name, item in names.items()]
        self.strategy = labelled(widgets.Dropdown, "strategy", "How items find their threads", options=titles)
        self.compare = labelled(
            widgets.Dropdown, "compare with", "A second strategy beside it, on the same N",
            options=[("none", _NONE), *titles],
        )  # fmt: skip
        self.workgroup_size = workgroup_slider()
        self.subgroup_size = subgroup_slider()
        self.mode = labelled(
            widgets.ToggleButtons, "threads",
            "The model computes who works on what; a recording is what the device's own threads noted",
            options=[("Model", "model"), ("Recorded on the GPU", "recorded")],
        )  # fmt: skip
        self.device = device_menu("Where maps are recorded and times are taken", devices, on_page_change=on_page)
        self.mode.add_class("xl-mode")
        self._device_names = [token for _, token in device_options(devices)]
        self.start(settings)

    def groups(self) -> tuple[widgets.VBox, ...]:
        """What is expanded, and how and where."""
        return (
            *super().groups(),
            group(
                "Strategy and device",
                [self.strategy, self.compare, self.workgroup_size, self.subgroup_size, self.mode, self.device],
            ),
        )

    def show(self, settings: ExpansionSettings) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self.silence():
            self.strategy.value = settings.strategy
            self.compare.value = settings.compare or _NONE
            self.workgroup_size.value = settings.workgroup_size
            self.subgroup_size.value = settings.subgroup_size
            self.mode.value = "model" if settings.device is None else "recorded"
            if settings.device in self._device_names:
                self.device.value = settings.device
        super().show(settings)

    def fields(self) -> dict[str, Any]:
        """The settings as the controls stand."""
        return super().fields() | {
            "strategy": self.strategy.value,
            "compare": self.compare.value or None,
            "workgroup_size": self.workgroup_size.value,
            "subgroup_size": self.subgroup_size.value,
            "device": self.device.value if self.mode.value == "recorded" else None,
        }

    def watched(self) -> list[widgets.Widget]:
        """The controls that change a setting."""
        own = [self.strategy, self.compare, self.workgroup_size, self.subgroup_size, self.mode, self.device]
        return [*super().watched(), *own]

    def reveal(self) -> None:
        """Show what the source takes, and hide the rest."""
        super().reveal()
        self.subgroup_size.disabled = self.mode.value == "recorded"


def workgroup_slider() -> widgets.SelectionSlider:
    """Threads in a workgroup."""
    return labelled(
        widgets.SelectionSlider, "workgroup (thr.)", "Threads in a workgroup", options=[32, 64, 128, 256]
    )  # fmt: skip


def subgroup_slider() -> widgets.SelectionSlider:
    """Lanes in a subgroup of the model."""
    return labelled(
        widgets.SelectionSlider, "subgroup (lanes)", "Lanes of a subgroup in the model; a device has its own",
        options=[4, 8, 16, 32, 64],
    )  # fmt: skip
