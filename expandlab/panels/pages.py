"""Panels that show one page: controls, the picture that follows from them, its data table, and Export."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic

import ipywidgets as widgets

from expandlab.figures.page import Page, make
from expandlab.figures.render import render
from expandlab.panels.base import Settings, SettingsPanel
from expandlab.panels.parts import group, table
from expandlab.panels.picture import PictureView
from expandlab.panels.sources import ITEMS, SourceControls, put
from expandlab.settings import CountsSettings

# Rows in the data table; an export has them all.
_LISTED = 200
# Dots to an inch of the picture in the page: its 1080 pixels stay sharp on a dense screen and quick to draw.
_DPI = 130


class PageControls(SourceControls):
    """The controls of the source, and further ones by the name of their setting, in a group of their own.

    A control's value is its setting's. wide: the name of one that stands above the picture, all across, with a button
    that plays it.
    """

    def __init__(
        self, settings: CountsSettings, change: Any, title: str, own: Mapping[str, widgets.Widget],
        *, most_items: int = ITEMS, wide: str | None = None,
    ):  # fmt: skip
        super().__init__(settings, change, most_items=most_items)
        self._title = title
        self.own = dict(own)
        self._wide = wide
        self.bar = [] if wide is None else [player(self.own[wide])]
        self.start(settings)

    def groups(self) -> tuple[widgets.VBox, ...]:
        """The source, and what the panel is about."""
        return (*super().groups(), group(self._title, [w for name, w in self.own.items() if name != self._wide]))

    def show(self, settings: CountsSettings) -> None:
        """Set every control to what `settings` say, without calling `change`."""
        with self.silence():
            for name, control in self.own.items():
                put(control, getattr(settings, name))
        super().show(settings)

    def fields(self) -> dict[str, Any]:
        """The settings as the controls stand."""
        return super().fields() | {name: control.value for name, control in self.own.items()}

    def watched(self) -> list[widgets.Widget]:
        """The controls that change a setting."""
        return [*super().watched(), *self.own.values()]


class PagePanel(SettingsPanel[Settings], Generic[Settings]):
    """A picture with its controls. page: what is drawn, or None before the first. view: the picture.

    A panel's own class has `_controls`, and `_fit` where a control depends on what is drawn.
    """

    def __init__(self, settings: Settings, *, name: str | None = None, error: str = ""):
        super().__init__(settings)
        self.page: Page | None = None
        self._look_at()
        self.controls = self._controls(settings)
        self._open(self._children(), name, error)

    def _look_at(self) -> None:
        """Set `view`, and `desk`, which is the same."""
        self.desk = self.view = PictureView()

    def _controls(self, settings: Settings) -> PageControls:
        """The controls, showing `settings`."""
        raise NotImplementedError

    def _fit(self, page: Page) -> None:
        """Fit the controls to what is drawn."""

    def _children(self) -> list[widgets.Widget]:
        grid = widgets.HBox([*self.controls.groups(), group("Keep", self.saving.rows)])
        grid.add_class("xl-controls")
        return [grid, self.alert, self.remark, *self.controls.bar, self.view, self.tables, self.about]

    def _draw(self, settings: Settings) -> None:
        page = make(settings)
        if page.counts is not None:
            self.controls.show_items(len(page.counts))
        with self.controls.silence():
            self._fit(page)
        self.page = page
        png = render(page.figure, "png", title=page.title, description=page.description, dpi=_DPI)
        self.view.show(png, page.description)

    def _tabulated(self) -> str:
        page = self.page
        if page is None:
            return ""
        more = f", the first {_LISTED} of {len(page.rows):,} rows" if len(page.rows) > _LISTED else ""
        return f"<div class='xl-about-table'>{table(page.head, page.rows[:_LISTED], page.title + more)}</div>"


def step_slider() -> widgets.IntSlider:
    """The slider of the step that is shown, all across the panel."""
    return widgets.IntSlider(
        description="step", tooltip="Which step is shown", min=0, max=1,
        layout=widgets.Layout(flex="1 1 auto", margin="0", width="auto"),
    )  # fmt: skip


def player(slider: widgets.IntSlider) -> widgets.HBox:
    """A slider with a button that plays it. The two follow each other in the page itself."""
    play = widgets.Play(min=0, max=1, interval=900, tooltip="Play the steps", show_repeat=False)
    widgets.jslink((play, "value"), (slider, "value"))
    widgets.jslink((slider, "max"), (play, "max"))
    bar = widgets.HBox([play, slider])
    bar.add_class("xl-playing")
    return bar
