"""A panel answers while a cell is busy: JupyterLab sends what its controls do to a subshell of the kernel.

nbclient cannot show this, as it knows only the main shell. Here the messages are sent one by one, as JupyterLab sends
them. Nothing is timed: the busy cell ends only after the test has seen the panel change.
"""

import time

from kernels import PATIENCE_S, kernel  # noqa: F401 - the fixture

PANEL = 'import expandlab as xl\nxl.panels.expansion(source="uniform", items=32, strategy="flat", subgroup_size=8)'

# The main thread is busy from first to last: it does not even sleep. Without the file it gives up at some time, so
# that a failure is reported instead of a hang.
BUSY = """
import pathlib, time
gives_up = time.monotonic() + {patience}
rounds = 0
while not (ended := pathlib.Path({flag!r}).exists()) and time.monotonic() < gives_up:
    rounds += 1
assert ended, "the cell was not told to end"
"""


class Published:
    """What the kernel publishes, read until something is found."""

    def __init__(self, client):
        self.client = client
        self.messages = []

    def until(self, what, found):
        """Messages as they come, up to and with the first for which `found` is true; that one is returned."""
        end = time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            message = self.client.get_iopub_msg(timeout=PATIENCE_S)
            assert message["msg_type"] != "error", "\n".join(message["content"]["traceback"])
            assert message["content"].get("name") != "stderr", message["content"]["text"]
            self.messages.append(message)
            if found(message):
                return message
        raise AssertionError(f"waited {PATIENCE_S} s for {what}")

    def until_idle(self, request):
        """Until the kernel says that it has done with a request."""
        return self.until("an idle kernel", lambda m: is_status(m, request, "idle"))


def is_status(message, request, state):
    return (
        message["msg_type"] == "status"
        and message["content"]["execution_state"] == state
        and message["parent_header"].get("msg_id") == request
    )


def create_subshell(client):
    """As JupyterLab does: a request on the control channel, answered with the subshell's id."""
    request = client.session.msg("create_subshell_request", {})
    client.control_channel.send(request)
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        answer = client.get_control_msg(timeout=PATIENCE_S)
        if answer["parent_header"].get("msg_id") == request["header"]["msg_id"]:
            assert answer["content"]["status"] == "ok", answer["content"]
            return answer["content"]["subshell_id"]
    raise AssertionError("the kernel did not answer")


def models(messages):
    """Widget models that were opened: comm id -> state."""
    return {m["content"]["comm_id"]: m["content"]["data"]["state"] for m in messages if m["msg_type"] == "comm_open"}


def set_value(client, comm_id, value, subshell):
    """What a widget in the browser sends when its user changes it."""
    data = {"method": "update", "state": {"value": value}, "buffer_paths": []}
    message = client.session.msg("comm_msg", {"comm_id": comm_id, "data": data})
    message["header"]["subshell_id"] = subshell
    client.shell_channel.send(message)


def is_new_frame(message, comm_id):
    """The panel draws on a thread of its own, so the parent of the message says nothing."""
    if message["msg_type"] != "comm_msg" or message["content"]["comm_id"] != comm_id:
        return False
    data = message["content"]["data"]
    return data.get("method") == "update" and ["frame"] in data.get("buffer_paths", [])


def test_a_slider_changes_the_panel_while_a_cell_is_busy(kernel, tmp_path):  # noqa: F811
    published = Published(kernel)
    published.until_idle(kernel.execute(PANEL))
    opened = models(published.messages)
    slider = next(comm for comm, state in opened.items() if is_slider_of_items(state))
    canvas = next(comm for comm, state in opened.items() if "_esm" in state or "_anywidget_id" in state)
    subshell = create_subshell(kernel)

    flag = tmp_path / "the panel has changed"
    busy = kernel.execute(BUSY.format(flag=str(flag), patience=PATIENCE_S))
    published.until("the cell to begin", lambda m: is_status(m, busy, "busy"))
    set_value(kernel, slider, 24, subshell)
    published.until("the panel to change", lambda m: is_new_frame(m, canvas))

    ended = [m for m in published.messages if is_status(m, busy, "idle")]
    assert ended == [], "the panel changed only after the cell"
    flag.touch()
    published.until_idle(busy)
    reply = next(m for m in iter(lambda: kernel.get_shell_msg(timeout=PATIENCE_S), None) if answers(m, busy))
    assert reply["content"]["status"] == "ok"


def is_slider_of_items(state):
    return state.get("_model_name") == "IntSliderModel" and state.get("description") == "items (src)"


def answers(message, request):
    return message["msg_type"] == "execute_reply" and message["parent_header"].get("msg_id") == request
