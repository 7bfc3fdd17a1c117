"""The line between the kernel and a page: jobs that are sent there, and what comes back. Knows no widgets.

A job is one message that says what to do and one that ends it. Small arrays ride with these, because each message has
its price; large ones go in pieces, and each side confirms those of the other. The page says every half second that it
is alive. So nothing waits for ever: a page that is silent for `SILENCE_S` was closed or reloaded, or hangs.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from expandlab.errors import DeviceError

SILENCE_S = 4.0
# Small enough that a slow line carries one well within the silence, and that every server lets it through.
PIECE = 1 << 20
# Pieces on their way that the page has not confirmed: enough to keep a line busy, few enough to cancel soon.
WINDOW = 4
# Arrays that are smaller than that together ride with the message that says what to do.
RIDES = 1 << 18
_GLANCE_S = 0.1
GONE = (
    "browser device: the page has said nothing for {:.0f} s; it was closed or reloaded, or it hangs, or this front end "
    "delivers no messages while a cell runs. Show the page again and run again"
)
RELOADED = (
    "browser device: the page was closed or reloaded, or the notebook was opened in another one, while it ran; run "
    "again in the page that is there now"
)
NO_PAGE = "browser device: no page has answered yet; open the notebook in a front end with widgets, then run again"


class Cancelled(DeviceError):
    """A job was cancelled; what the page had begun is dropped."""


@dataclass(frozen=True)
class Transfer:
    """How far a job is. `what` is `sending`, `running` or `receiving`; `done` and `total` are bytes."""

    what: str
    done: int
    total: int


@dataclass
class _Job:
    page: str
    answers: queue.SimpleQueue[tuple[dict[str, Any], list[Any]]] = field(default_factory=queue.SimpleQueue)
    arrays: dict[str, bytearray] = field(default_factory=dict)
    unconfirmed: int = 0


@dataclass(frozen=True)
class Answer:
    """What a job left: the page's last message, and the arrays (uint32) that it sent."""

    told: dict[str, Any]
    arrays: dict[str, np.ndarray]


class Link:
    """send: called with (content, buffers), from any thread. `heard` takes what the page sends, on any thread.

    page: which one is there, "" before any. adapter: what it says of its GPU. fault: why it has none, or "".
    losses: how often the page's device was lost under a job.
    """

    def __init__(self, send: Callable[[dict[str, Any], list[Any]], None]):
        self._send = send
        self._turn = threading.Lock()
        self._here = threading.Event()
        self._jobs: dict[int, _Job] = {}
        self._numbers = itertools.count(1)
        self._watch = threading.local()
        self._hearing: threading.Thread | None = None
        self.page = ""
        self.adapter: dict[str, Any] = {}
        self.fault = ""
        self.step_ns: float | None = None
        # How often the page's device was lost; what was made before is gone, though the page is there.
        self.losses = 0
        self.on_page: list[Callable[[], None]] = []

    @property
    def here(self) -> bool:
        """Whether a page has answered and is not known to be gone."""
        return self._here.is_set()

    def call(self) -> None:
        """Ask whether a page is there; it answers in its own time."""
        self._send({"kind": "ask"}, [])

    def wait_for_page(self, patience_s: float) -> bool:
        """Wait until a page has answered; False after `patience_s` seconds."""
        self.refuse_to_wait_here()
        return self._here.wait(patience_s)

    def refuse_to_wait_here(self) -> None:
        """Raise DeviceError on the thread that hears the page: it would wait for itself."""
        if threading.current_thread() is self._hearing:
            raise DeviceError(
                "browser device: this thread is the one that hears the page, so it cannot wait for it; use "
                "`await device.expand(...)`, or a thread of your own"
            )

    @contextmanager
    def watched(self, on_progress: Callable[[Transfer], None] | None, cancel: threading.Event | None) -> Iterator[None]:
        """Jobs of this thread inside tell of their progress, and end when `cancel` is set."""
        before = self._watched
        self._watch.now = (on_progress, cancel)
        try:
            yield
        finally:
            self._watch.now = before

    @property
    def _watched(self) -> tuple[Callable[[Transfer], None] | None, threading.Event | None]:
        return getattr(self._watch, "now", (None, None))

    def post(self, page: str, what: str, **content: Any) -> None:
        """Have the page do something without an answer. What goes wrong shows in the next job that needs it."""
        if page == self.page and self.here:
            self._send({"kind": "do", "page": page, "job": 0, "what": what, **content}, [])

    def ask(self, page: str, what: str, words: Mapping[str, np.ndarray] | None = None, **content: Any) -> Answer:
        """Have `page` do something, with arrays, and wait for the answer.

        Raises DeviceError with the page's own words, or where the page is gone; Cancelled.
        """
        self.refuse_to_wait_here()
        if page != self.page:
            raise DeviceError(RELOADED)
        with self._turn:
            number = next(self._numbers)
            job = self._jobs[number] = _Job(page)
        try:
            parts, buffers = self._hand(number, job, words or {})
            order = {"kind": "do", "page": page, "job": number, "what": what, "parts": parts, **content}
            self._send(order, buffers)
            told = self._finish(number, job)
        except BaseException:
            self._send({"kind": "cancel", "page": page, "job": number}, [])
            raise
        finally:
            with self._turn:
                self._jobs.pop(number, None)
        self.step_ns = told.get("step_ns") or self.step_ns
        return Answer(told, {name: np.frombuffer(data, np.uint32) for name, data in job.arrays.items()})

    def _hand(
        self, number: int, job: _Job, words: Mapping[str, np.ndarray]
    ) -> tuple[list[dict[str, Any]], list[memoryview]]:
        """Send what is large; returns what rides with the message that follows."""
        total = sum(array.nbytes for array in words.values())
        sent, room = 0, RIDES
        riding: dict[str, np.ndarray] = {}
        for name, array in words.items():
            if array.nbytes <= room:
                room -= array.nbytes
                riding[name] = array
                continue
            for content, piece in pieces({name: array}):
                self._send({"kind": "part", "page": job.page, "job": number, **content}, [piece])
                job.unconfirmed += 1
                sent += len(piece)
                while job.unconfirmed >= WINDOW:
                    self._next(job)
                self._news("sending", sent, total)
        if riding:
            self._news("sending", total, total)
        self._news("running", total, total)
        found = list(pieces(riding))
        return [content for content, _ in found], [piece for _, piece in found]

    def _finish(self, number: int, job: _Job) -> dict[str, Any]:
        received = 0
        while True:
            content, buffers = self._next(job)
            if content["kind"] == "output":
                self._send({"kind": "got", "page": job.page, "job": number}, [])
            parts = [content] if content["kind"] == "output" else content.get("parts", [])
            for part, buffer in zip(parts, buffers, strict=True):
                piece = memoryview(buffer).cast("B")
                array = job.arrays.setdefault(part["name"], bytearray(part["bytes"]))
                array[part["offset"] : part["offset"] + len(piece)] = piece
                received += len(piece)
                self._news("receiving", received, content["of"])
            if content["kind"] == "done":
                return content

    def _next(self, job: _Job) -> tuple[dict[str, Any], list[Any]]:
        """The next message of a job; raises what is wrong with it, or with the page."""
        cancel = self._watched[1]
        silent = 0.0
        while True:
            if cancel is not None and cancel.is_set():
                raise Cancelled("browser device: cancelled; what the page had begun is dropped")
            left = SILENCE_S - silent
            if left <= 0:
                self._miss()
                raise DeviceError(GONE.format(SILENCE_S))
            glance = min(left, _GLANCE_S)
            try:
                content, buffers = job.answers.get(timeout=glance)
            except queue.Empty:
                # Where this process gets no processor a glance takes longer, which says nothing of the page.
                silent += glance
                continue
            if content["kind"] == "failed":
                self.losses += bool(content.get("lost"))
                raise PageError(content)
            job.unconfirmed -= content["kind"] == "took"
            return content, buffers

    def _news(self, what: str, done: int, total: int) -> None:
        on_progress = self._watched[0]
        if on_progress is not None:
            on_progress(Transfer(what, done, total))

    def heard(self, content: dict[str, Any], buffers: list[Any]) -> None:
        """Take a message of a page."""
        self._hearing = threading.current_thread()
        kind, page = content["kind"], content["page"]
        if kind == "hello":
            self._met(content)
        elif kind == "gone":
            self._lost(page)
        else:
            with self._turn:
                job = self._jobs.get(content.get("job"))
            if job is not None and job.page == page:
                job.answers.put((content, buffers))

    def _met(self, content: dict[str, Any]) -> None:
        # Of several pages the one that is there keeps the line, but one that was just opened takes it.
        if self.here and content["page"] != self.page and not content.get("first"):
            return
        with self._turn:
            self.page = content["page"]
            self.adapter = content.get("adapter", {})
            self.fault = content.get("error", "")
        self._here.set()
        self._changed()

    def _lost(self, page: str) -> None:
        with self._turn:
            lost = [job for job in self._jobs.values() if job.page == page]
        for job in lost:
            job.answers.put(({"kind": "failed", "page": page, "message": RELOADED}, []))
        if page == self.page:
            self._miss()

    def _miss(self) -> None:
        """The page is gone. Another tab may show the notebook: ask."""
        self._here.clear()
        self._changed()
        self.call()

    def _changed(self) -> None:
        for tell in list(self.on_page):
            tell()


class PageError(DeviceError):
    """What the page says went wrong; `content` is its message."""

    def __init__(self, content: Mapping[str, Any]):
        message = str(content["message"])
        super().__init__(message if message.startswith("browser device") else f"browser device: {message}")
        self.content = dict(content)


def pieces(words: Mapping[str, np.ndarray]) -> Iterator[tuple[dict[str, Any], memoryview]]:
    """Arrays cut into messages."""
    for name, array in words.items():
        data = memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        for offset in range(0, len(data), PIECE):
            yield {"name": name, "offset": offset, "bytes": len(data)}, data[offset : offset + PIECE]
