"""An expansion panel in a notebook's page, as its user handles it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from browser.jupyter import NotebookPage, until


class Panel:
    """The panel that a cell shows. `map` is the element whose data say what is painted."""

    def __init__(self, notebook: NotebookPage, cell_id: str):
        self.notebook = notebook
        self.page = notebook.page
        self.cell_id = cell_id
        self.root = notebook.cell(cell_id).locator(".jp-Cell-outputWrapper")
        self.map = self.root.locator(".xl-map")
        # JupyterLab lays a cell out only when it comes into view, and a picture without a width is not painted.
        self.root.scroll_into_view_if_needed()

    # --- what it shows ----------------------------------------------------------------------------------------

    def data(self, name: str) -> str | None:
        """One of the data attributes of the picture."""
        return self.map.get_attribute(f"data-{name}")

    def painted(self) -> int:
        """Number of the last frame painted; 0 before the first."""
        return int(self.data("painted") or 0)

    def wait_for(self, **data: object) -> None:
        """Until the picture's data have these values."""
        wanted = {name.replace("_", "-"): str(value) for name, value in data.items()}
        until(f"{self.cell_id} to show {wanted}", lambda: all(self.data(n) == value for n, value in wanted.items()))

    def repaints(self, act: Callable[[], Any]) -> None:
        """Until a new frame is painted after `act`."""
        before = self.painted()
        act()
        until(f"{self.cell_id} to be painted again", lambda: self.painted() > before)

    def error(self) -> str:
        """The text of the error line."""
        return " ".join(self.root.locator(".xl-error").all_text_contents()).strip()

    def says(self, text: str) -> str:
        """A status line that holds `text`, as soon as there is one; an error that comes instead fails the test."""

        def found() -> str | None:
            assert not self.error(), self.error()
            lines = self.root.locator(".xl-remark").all_text_contents()
            return next((line for line in lines if text in line), None)

        return until(f"{self.cell_id} to say {text!r}", found, seen=self.root.locator(".xl-remark").all_text_contents)

    # --- its controls -----------------------------------------------------------------------------------------

    def controls(self, kind: str) -> dict[str, Any]:
        """The visible and enabled controls of a kind (an ipywidgets class), by label."""
        found = {}
        for control in self.root.locator(f".{kind}").all():
            label = control.locator(".widget-label").first
            if control.is_visible() and label.count():
                found[(label.text_content() or "").strip()] = control
        return found

    def slider(self, label: str) -> Any:
        """The handle of a slider: what takes the focus, the keys and the mouse."""
        return self.controls("widget-slider")[label].locator(".noUi-handle")

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a dropdown by its text, which is its value: what is shown has non-breaking spaces."""
        self.controls("widget-dropdown")[label].locator("select").select_option(value=option)

    def options(self, label: str) -> list[str]:
        """The texts of a dropdown's options."""
        texts = self.controls("widget-dropdown")[label].locator("option").all_text_contents()
        return [text.replace("\N{NO-BREAK SPACE}", " ") for text in texts]

    def choose_device(self, named: str = "llvmpipe") -> None:
        """Choose where Run measures, whatever was chosen before: Reset leaves that menu as it is."""
        self.choose("device", next(text for text in self.options("device") if named in text))

    def press(self, name: str) -> None:
        """Press a button."""
        self.root.get_by_role("button", name=name, exact=True).click()

    def run_and_cancel(self, after: str = "") -> str:
        """Press Run, and Cancel as soon as it can be pressed; what is said when Run can be pressed again.

        after: what the progress says first, as a regular expression of JavaScript's.
        """
        run, cancel = (self.root.get_by_role("button", name=name, exact=True) for name in ("Run", "Cancel"))
        run.click()
        progress = self.root.locator(".xl-progress").element_handle()
        # In the page, because a run may be over before a click from here arrives.
        cancel.evaluate(
            """(button, [progress, after]) => new Promise(done => {
            const ready = () => !button.disabled && RegExp(after).test(progress.textContent);
            const look = () => ready() ? (button.click(), done()) : setTimeout(look, 2);
            look();
            setTimeout(done, 120000);
        })""",
            [progress, after],
        )
        until(f"the run of {self.cell_id} to end", run.is_enabled)
        lines = self.root.locator(".xl-remark").all_text_contents()
        return next(line for line in lines if line.startswith(("cancelled: ", "done: ")))

    def move(self, label: str) -> None:
        """Move a slider with a key, then far away with the mouse; something new is painted, or refused."""
        control, handle, painted = self.controls("widget-slider")[label], self.slider(label), self.painted()

        def moves(act: Callable[[], Any]) -> None:
            before = handle.get_attribute("aria-valuenow")
            act()
            until(f"{label} to move", lambda: handle.get_attribute("aria-valuenow") != before)

        last = handle.get_attribute("aria-valuenow") == handle.get_attribute("aria-valuemax")
        moves(lambda: handle.press("ArrowLeft" if last else "ArrowRight"))
        track = control.locator(".noUi-base")
        box, at = track.bounding_box(), handle.bounding_box()
        # Far enough that a slider of two places moves, too.
        share = (at["x"] + at["width"] / 2 - box["x"]) / box["width"]
        share = min(share + 0.6, 0.97) if share < 0.5 else max(share - 0.6, 0.03)
        moves(lambda: track.click(position={"x": box["width"] * share, "y": box["height"] / 2}, force=True))
        until(f"{label} to be painted", lambda: self.painted() > painted or self.error())

    def export(self, kind: str) -> Path:
        """Export in a format; the file that it says it wrote."""
        menu = self.root.locator("select", has=self.page.locator("option", has_text="PNG"))
        menu.select_option(label=kind.upper())
        self.press("Export")
        said = self.says(f".{kind}").removeprefix("saved ").strip()
        return self.notebook.lab.root / Path(self.notebook.notebook).parent / said

    # --- settings ---------------------------------------------------------------------------------------------

    def copied(self) -> dict[str, Any]:
        """The settings as Copy settings gives them."""
        text = self.root.locator("textarea[title='Settings as JSON']")
        text.fill("")
        self.press("Copy settings")
        return json.loads(until("the copied settings", lambda: text.input_value()))

    def load(self, settings: dict[str, Any] | str) -> None:
        """Type settings and press Load settings."""
        text = settings if isinstance(settings, str) else json.dumps(settings)
        self.root.locator("textarea[title='Settings as JSON']").fill(text)
        self.press("Load settings")

    def reset(self) -> None:
        """Back to the settings that the panel was opened with, painted."""
        self.repaints(lambda: self.press("Reset"))
        until("the error line to empty", lambda: not self.error())


class PagePanel(Panel):
    """A panel that shows one picture, drawn by the kernel."""

    def __init__(self, notebook: NotebookPage, cell_id: str):
        super().__init__(notebook, cell_id)
        self.map = self.root.locator(".xl-picture")

    def painted(self) -> int:
        """Number of the last picture that the page has loaded; 0 before the first."""
        return int(self.data("drawn") or 0)

    def alt(self) -> str:
        """The picture's alternative text."""
        return self.map.locator("img").get_attribute("alt") or ""


class ScenePanel(PagePanel):
    """A panel whose picture the page draws itself."""

    def alt(self) -> str:
        """The picture's alternative text."""
        return self.svg.get_attribute("aria-label") or ""

    @property
    def svg(self) -> Any:
        """The drawing, which takes the focus and the keys."""
        return self.map.locator("svg.xl-scene-svg")

    def target(self, id_: str) -> Any:
        """What can be pointed at, by its id."""
        return self.map.locator(f".xl-hit[data-id='{id_}']")

    def tip(self) -> list[str]:
        """The lines beside what is pointed at; none where nothing is."""
        found = self.map.locator(".xl-tip")
        return found.locator("b, div").all_text_contents() if found.is_visible() else []

    def type(self, label: str, text: str) -> None:
        """Type into a box and press Enter."""
        box = self.controls("widget-text")[label].locator("input")
        box.fill(text)
        box.press("Enter")

    def number(self, label: str, value: float) -> None:
        """Type a number and press Enter."""
        box = self.controls("widget-text")[label].locator("input")
        box.fill(str(value))
        box.press("Enter")
