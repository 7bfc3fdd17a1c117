"""What panel tests share: no widget may fail out of sight, and panels are closed again."""

import logging
import threading

import pytest


@pytest.fixture(autouse=True)
def faults(monkeypatch):
    """Fails the test on any exception in a thread, and on any error that a panel logged as its own fault."""
    seen = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_value))

    class Keep(logging.Handler):
        def emit(self, record):
            seen.append(record.exc_info[1] if record.exc_info else record.getMessage())

    log = logging.getLogger("expandlab.panels")
    handler = Keep()
    log.addHandler(handler)
    yield seen
    log.removeHandler(handler)
    assert not seen


@pytest.fixture
def open_panel(tmp_path, monkeypatch):
    """`panels.expansion` in a folder of its own, closed after the test; waits until everything is drawn."""
    from expandlab import panels

    monkeypatch.chdir(tmp_path)
    opened = []

    def open_one(**settings):
        opened.append(panels.expansion(**settings))
        assert opened[-1].settle()
        return opened[-1]

    yield open_one
    for panel in opened:
        panel.close()
