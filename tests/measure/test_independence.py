"""What declaring independence gains: both forms compute the same, their barriers differ as planned, cancel keeps."""

import json
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

import expandlab as xl
from expandlab.cli import app
from expandlab.graph.native import emitted
from expandlab.measuring import independence


def test_spun_is_the_loop():
    values = np.array([0, 1, 2**32 - 1, 12345], np.uint32)
    wanted = [int(value) for value in values]
    for _ in range(37):
        wanted = [(value * 1664525 + 1013904223) % 2**32 for value in wanted]
    assert independence.spun(values, 37).tolist() == wanted
    assert independence.spun(values, 0).tolist() == values.tolist()


@pytest.mark.parametrize("example", independence.EXAMPLES)
def test_the_independent_form_has_fewer_barriers_of_wgpu(example):
    counts = []
    for free in (False, True):
        plan = independence.EXAMPLES[example](10, free).graph.compile()
        counts.append(sum(len(names) > 0 for names in emitted(plan).values()))
    assert counts[1] < counts[0]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("example", independence.EXAMPLES)
def test_both_forms_hold_what_numpy_says(example, free, gpu):
    form = independence.EXAMPLES[example](50, free)
    found = form.graph.compile().run(gpu)
    for name, values in form.expected.items():
        assert np.array_equal(found[name][: len(values)], values)


def test_it_is_measured_and_a_cancelled_run_keeps_a_round(gpu):
    cancel, seen = threading.Event(), []

    def told(news):
        seen.append(news)
        cancel.set()

    found = independence.measure_independence(gpu, repeats=5, pass_us=1, on_progress=told, cancel=cancel)
    assert found.cancelled and len(seen) == 1 and seen[0].total == 5
    assert [row.samples for row in found.rows] == [1] * 10
    assert set(found.gained_us) == set(independence.EXAMPLES)
    assert all(row.q1_us <= row.median_us <= row.q3_us for row in found.rows)
    json.dumps(found.to_dict())
    assert [len(row) for row in independence.table_rows(found)] == [len(independence.HEAD)] * 10


def test_the_reference_device_has_nothing_to_time_and_the_command_line_explains():
    with pytest.raises(xl.UnsupportedError, match="reference"):
        independence.measure_independence("reference")
    run = CliRunner().invoke
    assert run(app, ["graph", "--gains", "--device", "reference"]).exit_code == 1
    assert run(app, ["graph"]).exit_code == 2
    assert run(app, ["graph", "some.json", "--gains"]).exit_code == 2
