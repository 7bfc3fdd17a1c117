"""The Stop button of a notebook while the device works on a shader that does not end for a long time."""

from __future__ import annotations

import pytest
from drivers import driver
from kernels import PATIENCE_S, kernel  # noqa: F401 - the fixture

BEFORE = """
import numpy as np, expandlab as xl
kept = xl.expand([3, 1], "flat", device="swiftshader")
body = '''fn work(src: u32, local: u32, dst: u32) {
    var x = a[0];
    for (var i = 0u; i < 4000000000u; i++) { for (var j = 0u; j < 60000u; j++) { x = x * 1664525u + a[1]; } }
    a[0] = x;
}'''
"""
# Says so when it begins to wait for the device.
STUCK = """
from expandlab.gpu import waiting
whole = waiting._wait
def told(promise, seconds):
    print("waits", flush=True)
    return whole(promise, seconds)
waiting._wait = told
xl.expand([1], "flat", body=body, buffers={"a": np.ones(2, np.uint32)}, device="swiftshader")
"""
AFTER = """
waiting._wait = whole
assert kept.total == 4
assert xl.expand([2, 1], "flat", device="lavapipe").total == 3
assert xl.expand([2, 1], "flat", device="reference").total == 3
print("alive")
"""


@pytest.mark.gpu
def test_a_kernel_that_is_interrupted_in_a_run_goes_on(kernel):  # noqa: F811
    driver("swiftshader"), driver("lavapipe")
    run(kernel, BEFORE)
    kernel.execute(STUCK)
    while (message := kernel.get_iopub_msg(timeout=PATIENCE_S))["content"].get("text") != "waits\n":
        pass
    kernel.parent.interrupt_kernel()
    while (message := kernel.get_iopub_msg(timeout=PATIENCE_S))["msg_type"] != "error":
        pass
    assert message["content"]["ename"] == "KeyboardInterrupt"
    while message["content"].get("execution_state") != "idle":
        message = kernel.get_iopub_msg(timeout=PATIENCE_S)
    assert run(kernel, AFTER) == "alive\n"


def run(client, code):
    """What a cell prints. Fails where it raises."""
    printed = []
    client.execute_interactive(code, timeout=PATIENCE_S, output_hook=printed.append, store_history=False)
    faults = [m["content"]["traceback"] for m in printed if m["msg_type"] == "error"]
    assert not faults, "\n".join(faults[0])
    return "".join(m["content"]["text"] for m in printed if m["msg_type"] == "stream")
