"""The line between kernel and page, and what stands on it, with pages that these tests play themselves."""

from __future__ import annotations

import asyncio
import signal
import threading
import time

import numpy as np
import pytest

import expandlab as xl
from expandlab.browser import link as link_module
from expandlab.browser.device import PageDevice
from expandlab.browser.link import PIECE, RIDES, SILENCE_S, WINDOW, Cancelled, Link
from expandlab.errors import DeviceError
from expandlab.panels import running
from expandlab.panels.parts import Message

ADAPTER = {"name": "a test's", "agent": "nobody", "features": []}


class Page:
    """A page on a thread of its own: `answers[what](content, tell)` says what it does."""

    def __init__(self, name="one"):
        self.name, self.answers, self.seen = name, {}, []
        self.link = Link(self.take)
        self.parts, self.most = 0, 0

    def say(self, **content):
        """Be heard, as on the thread of a front end."""
        thread = threading.Thread(target=self.link.heard, args=({"page": self.name, **content}, []))
        thread.start()
        thread.join()

    def take(self, content, buffers):
        self.seen.append(content)
        if content["kind"] == "part":
            self.parts += len(buffers[0])
            self.say(kind="took", job=content["job"])
        if content["kind"] == "do" and content["what"] in self.answers:
            self.answers[content["what"]](content)


def plan_of_two_passes(devices=("gpu0", "gpu0")):
    wgsl = """
    @group(0) @binding(0) var<storage, read_write> words: array<u32>;
    @compute @workgroup_size(1) fn main() { words[0] += 1u; }
    """
    graph = xl.FrameGraph(dict.fromkeys(devices, ("compute",)))
    graph.buffer("words", 16, imported=True)
    for name, device in zip(("one", "two"), devices, strict=True):
        kernel = xl.Kernel(wgsl, "main", ["words"], (1, 1, 1))
        graph.add_pass(name, [("words", "read_write")], device=device, kernel=kernel)
    graph.output("words")
    return graph.compile()


@pytest.fixture
def page():
    made = Page()
    made.say(kind="hello", first=True, adapter=ADAPTER)
    return made


def test_a_silent_page_ends_the_wait_with_a_sentence_in_less_than_five_seconds(page, monkeypatch):
    assert SILENCE_S < 5
    monkeypatch.setattr(link_module, "SILENCE_S", 0.05)
    with pytest.raises(DeviceError, match=r"said nothing .* closed or reloaded"):
        page.link.ask("one", "nothing")
    assert not page.link.here
    page.say(kind="hello", adapter=ADAPTER)
    page.answers["nothing"] = lambda content: page.say(kind="done", job=content["job"])
    assert page.link.ask("one", "nothing").told["kind"] == "done"


def test_a_page_that_goes_says_so_at_once(page):
    page.answers["run"] = lambda content: page.say(kind="gone")
    begun = time.monotonic()
    with pytest.raises(DeviceError, match=r"closed or reloaded, or .* while it ran"):
        page.link.ask("one", "run")
    assert time.monotonic() - begun < SILENCE_S


def test_another_tab_takes_the_line_of_one_that_goes(page):
    page.say(kind="gone")
    assert page.seen[-1] == {"kind": "ask"} and not page.link.here
    page.name = "another tab"
    page.say(kind="hello", first=False, adapter=ADAPTER)
    assert page.link.page == "another tab" and page.link.here


def test_what_was_made_on_a_lost_device_is_gone_though_the_page_is_there(page):
    page.answers["run"] = lambda content: page.say(kind="failed", job=content["job"], message="lost", lost=True)
    device = PageDevice(page.link)
    with pytest.raises(DeviceError, match="lost"):
        device.ask("run")
    assert device.gone and not PageDevice(page.link).gone


def test_what_a_page_keeps_is_gone_with_it(page):
    page.name = "two"
    page.say(kind="hello", first=True, adapter=ADAPTER)
    with pytest.raises(DeviceError, match="run again"):
        page.link.ask("one", "run")


def test_a_second_page_that_answers_a_call_does_not_take_the_line(page):
    other = {"kind": "hello", "page": "two", "first": False, "adapter": ADAPTER}
    page.link.heard(other, [])
    assert page.link.page == "one"
    page.link.heard({**other, "first": True}, [])
    assert page.link.page == "two"


def test_arrays_go_in_pieces_and_no_more_are_on_their_way_than_a_window(page):
    words = np.arange(3 * PIECE // 4 + 5, dtype=np.uint32)
    told = []
    page.answers["write"] = lambda content: page.say(kind="done", job=content["job"])
    with page.link.watched(told.append, None):
        page.link.ask("one", "write", words={"counts": words})
    sizes = [item for item in page.seen if item["kind"] == "part"]
    assert [item["offset"] for item in sizes] == [0, PIECE, 2 * PIECE, 3 * PIECE] and page.parts == words.nbytes
    assert told[-1].what == "running" and told[-2].done == told[-2].total == words.nbytes
    assert WINDOW < 8


def test_small_arrays_ride_with_the_message_that_says_what_to_do(page):
    page.answers["write"] = lambda content: page.say(kind="done", job=content["job"])
    small, large = np.arange(3, dtype=np.uint32), np.zeros(RIDES // 4, np.uint32)
    page.link.ask("one", "write", words={"params": small, "counts": large, "none": small[:0]})
    assert [item["kind"] for item in page.seen] == ["part", "do"] and page.seen[0]["name"] == "counts"
    assert page.seen[1]["parts"] == [{"name": "params", "offset": 0, "bytes": 12}]


def test_a_page_that_confirms_nothing_gets_a_window_and_no_more(monkeypatch):
    monkeypatch.setattr(link_module, "SILENCE_S", 0.05)
    sent = []
    link = Link(lambda content, buffers: sent.append(content["kind"]))
    threading.Thread(target=link.heard, args=({"kind": "hello", "page": "one", "adapter": ADAPTER}, [])).start()
    assert link.wait_for_page(10)
    with pytest.raises(DeviceError, match="said nothing"):
        link.ask("one", "write", words={"counts": np.zeros(2 * WINDOW * PIECE // 4, np.uint32)})
    assert sent.count("part") == WINDOW and sent[-1] == "cancel"


def test_cancelling_ends_the_job_in_the_page_too(page):
    cancel = threading.Event()
    page.answers["run"] = lambda content: cancel.set()
    with page.link.watched(None, cancel), pytest.raises(Cancelled):
        page.link.ask("one", "run")
    assert page.seen[-1]["kind"] == "cancel"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer sends a signal here")
def test_an_interrupt_ends_what_is_awaited_though_nothing_wakes_the_loop(monkeypatch):
    device, release, ended = xl.browser_device(), threading.Event(), threading.Event()

    def wait():
        release.wait(5)
        ended.set()

    async def interrupted():
        before = signal.signal(signal.SIGALRM, lambda *_: task.cancel())
        task = asyncio.ensure_future(device.run(lambda page: None))
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with pytest.raises(asyncio.CancelledError):
                await task
            assert not ended.is_set()
        finally:
            signal.signal(signal.SIGALRM, before)
            release.set()

    monkeypatch.setattr(device, "wait", wait)
    asyncio.run(interrupted())


def test_the_thread_that_hears_the_page_is_not_made_to_wait_for_it(page):
    page.link.heard({"kind": "hello", "page": "one", "adapter": ADAPTER}, [])
    with pytest.raises(DeviceError, match="await device"):
        page.link.ask("one", "nothing")


def test_results_come_together_from_pieces_in_any_order(page):
    def answer(content):
        tell = {"page": "one", "job": content["job"]}
        for offset, word in ((4, 7), (0, 5)):
            piece = np.array([word], np.uint32).tobytes()
            page.link.heard({**tell, "kind": "output", "name": "a", "offset": offset, "bytes": 8, "of": 8}, [piece])
        page.link.heard({**tell, "kind": "done", "step_ns": 100_000.0}, [])

    page.answers["read"] = lambda content: threading.Thread(target=answer, args=(content,)).start()
    assert page.link.ask("one", "read").arrays["a"].tolist() == [5, 7]
    assert PageDevice(page.link).timer_step_ms == pytest.approx(0.1)
    assert [item["kind"] for item in page.seen] == ["do", "got", "got"]


def test_a_plan_goes_with_its_first_run_and_a_page_gets_each_shader_once(page):
    asked = []

    def answer(content):
        asked.append(content)
        outputs = [np.zeros(-(-read["bytes"] // 4), np.uint32).tobytes() for read in content["reads"]]
        parts = [
            {"name": read["name"], "offset": 0, "bytes": len(data)}
            for read, data in zip(content["reads"], outputs, strict=True)
        ]
        passes = 2
        told = {"kind": "done", "job": content["job"], "page": "one", "parts": parts, "of": 0, "made_ms": 1.0}
        told |= {"ms": [None] * passes, "ran_ms": 0.0}
        threading.Thread(target=page.link.heard, args=(told, outputs)).start()

    page.answers["run"] = answer
    device = PageDevice(page.link)
    for _ in range(2):
        with plan_of_two_passes().program(device) as program:
            program.run({})
            program.run({})
    assert ["make" in item for item in asked] == [True, False, True, False]
    texts = [set(item["make"]["texts"]) for item in asked[::2]]
    assert texts[0] == set(asked[0]["make"]["shaders"].values()) and texts[1] == set()
    assert [item["what"] for item in page.seen if item["kind"] == "do"] == ["run", "run", "close"] * 2


def test_a_text_that_a_compiler_need_not_survive_is_not_sent(page):
    graph = xl.FrameGraph()
    graph.buffer("words", 4)
    wgsl = f"""@group(0) @binding(0) var<storage, read_write> words: array<u32>;
    @compute @workgroup_size(1) fn main() {{ words[0] = {"(" * 1000}1u{")" * 1000}; }}"""
    graph.add_pass("one", [("words", "write")], kernel=xl.Kernel(wgsl, "main", ["words"], (1, 1, 1)))
    graph.output("words")
    before = len(page.seen)
    with pytest.raises(xl.ShaderError, match=r"^<wgsl>:2:\d+: more than 400 levels"):
        PageDevice(page.link).program(graph.compile())
    assert len(page.seen) == before


def test_a_page_is_none_of_several_devices(page):
    plan = plan_of_two_passes()
    with pytest.raises(
        xl.UnsupportedError, match=r"devices\['gpu0'\]: this browser: a test's cannot be one of several"
    ):
        plan.run({"gpu0": PageDevice(page.link)}, {})


def test_a_page_without_webgpu_is_an_error_with_its_reason():
    page = Page()
    page.say(kind="hello", first=True, error="this browser has no WebGPU (navigator.gpu); use a newer one")
    with pytest.raises(DeviceError, match="no WebGPU"):
        PageDevice(page.link)


def test_this_browser_without_a_page_is_an_error_that_says_so():
    xl.browser_device()
    with pytest.raises(xl.DeviceError, match="no page"):
        xl.expand([1, 2], device="this browser")
    with pytest.raises(xl.DeviceError, match="no page"):
        xl.record_map([1, 2], "append", device=xl.browser_device())


def test_what_webgpu_lacks_is_refused_before_anything_is_sent(page):
    before = len(page.seen)
    with pytest.raises(xl.UnsupportedError, match=r"this browser: a test's lacks .*Nearest one that runs"):
        xl.expand([1, 2], "atomic64_add", device=PageDevice(page.link))
    assert len(page.seen) == before


def test_menus_list_the_page_with_the_name_that_it_tells_and_keep_what_is_chosen():
    from expandlab.panels.device_menu import device_menu

    device, told = xl.browser_device(), []
    menu = device_menu("test")
    menu.observe(told.append, "value")
    menu.value = "this browser"
    told.clear()
    hello = {"kind": "hello", "page": "menu", "first": True}
    try:
        device.link.heard({**hello, "adapter": ADAPTER}, [])
        assert [text for text, token in menu.options if token == "this browser"] == ["this browser: a test's (WebGPU)"]
        device.link.heard({**hello, "error": "this browser has no WebGPU"}, [])
        assert menu.options[-1] == ("this browser: no WebGPU", "this browser") and "no WebGPU" in device.status
        assert menu.value == "this browser" and told == []
    finally:
        device.link.page, device.link.adapter, device.link.fault = "", {}, ""
        device.link._here.clear()
        menu.close()


def test_a_closed_panel_leaves_the_kernels_browser_device_alone():
    device = xl.browser_device()
    panel = xl.panels.beside(items=10)
    assert device in panel.children
    panel.close()
    assert device.comm is not None and device.layout.comm is not None


def test_cancel_ends_a_run_whose_page_lives_and_never_answers(page, monkeypatch):
    monkeypatch.setattr(running, "_GRACE_S", 0.1)
    monkeypatch.setattr(xl.browser_device(), "link", page.link)
    asked, alert = threading.Event(), Message("alert")
    page.answers["run"] = lambda content: asked.set()
    box = running.RunBox(lambda: None, alert)
    monkeypatch.setattr(box, "_measured", lambda cancel: page.link.ask("one", "run"))
    box.start()
    assert asked.wait(10)
    box.stop()
    assert box.wait(SILENCE_S - 1) and "cancelled" in alert.text
    assert page.seen[-1]["kind"] == "cancel" and not box.run.disabled


def test_beside_compares_two_devices():
    panel = xl.panels.beside(source="list", values=[3, 0, 5], strategy="append")
    panel.there.value = panel.here.value
    panel.start()
    assert panel.wait(120) and panel.error == ""
    assert [item.total for _, item in panel.results] == [8, 8] and panel.table.value.count(">exact<") == 2
    panel.close()


def test_beside_says_why_it_cannot_run():
    panel = xl.panels.beside(source="list", values=[3, 0, 5])
    panel.start()
    assert panel.wait(120) and "no page has answered yet" in panel.error
    panel.close()
