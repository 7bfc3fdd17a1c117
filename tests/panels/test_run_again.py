"""A cell that is run again while its panel is busy."""

from __future__ import annotations

import threading

from expandlab.panels import registry, running


def test_a_cell_that_runs_again_ends_the_measurement_of_before(open_panel, monkeypatch):
    monkeypatch.setattr(registry, "_place", lambda: ("cell a", "run 1"))
    first = open_panel(items=20, strategy="append")
    first.controls.device.value = "reference"
    reached, whole = threading.Event(), running.measure

    def held(*args, on_progress, cancel, **kwargs):
        def news(item):
            on_progress(item)
            if not reached.is_set():
                reached.set()
                assert cancel.wait(60), "nobody ended it"

        return whole(*args, on_progress=news, cancel=cancel, **kwargs)

    monkeypatch.setattr(running, "measure", held)
    first.running.start()
    assert reached.wait(60)
    monkeypatch.setattr(registry, "_place", lambda: ("cell a", "run 2"))
    second = open_panel(items=20, strategy="append")
    assert first.comm is None and first.running.wait(60)
    second.controls.device.value = "reference"
    second.running.start()
    assert second.running.wait(120)
    assert second.error == "" and not second.running.timings.cancelled
