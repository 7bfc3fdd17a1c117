"""`expandlab scale` on two software devices: every number is there, and the results agree."""

import json

import pytest
from drivers import driver
from typer.testing import CliRunner

from expandlab.cli import app

QUICK = ["--seconds", "0.05", "--rounds", "1", "--plan-ms", "0.2", "--items", "9000"]


@pytest.mark.gpu
def test_two_devices_are_compared_with_one():
    driver("lavapipe")
    ran = CliRunner().invoke(app, ["scale", "--device", "lavapipe", "--device", "lavapipe", *QUICK, "--json"])
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert len(found["devices"]) == 2 and found["software"]
    assert [gain["what"].split()[0] for gain in found["gains"]] == ["search", "expansion"]
    for gain in found["gains"]:
        assert gain["equal"] and gain["speed_up"] == gain["all_per_second"] / gain["one_per_second"] > 0
    assert set(found["plans"]) == {"readers", "ping_pong"}
    for plan in found["plans"].values():
        measured = sorted(plan["measured_us"])[len(plan["measured_us"]) // 2]
        assert plan["difference"] == pytest.approx(plan["simulated_us"] / measured - 1)


@pytest.mark.gpu
def test_the_table_names_the_devices():
    driver("lavapipe")
    ran = CliRunner().invoke(app, ["scale", "--device", "lavapipe", "--device", "lavapipe", *QUICK])
    assert ran.exit_code == 0, ran.output
    assert "device 1: llvmpipe" in ran.stdout and "say nothing about GPUs" in ran.stdout and "speed-up" in ran.stdout


def test_one_device_alone_is_refused():
    ran = CliRunner().invoke(app, ["scale", "--device", "reference"])
    assert ran.exit_code == 1 and "give two or more" in ran.output
