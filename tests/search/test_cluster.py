"""A search on a local Dask cluster of three processes: the same result, also when one is killed on the way."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

import expandlab as xl

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.gpu

SPACE = (60, 50, 40, 30, 5)
SCORE = """
fn score(pick: array<u32, 5>) -> f32 {
    return weights[pick[0]] + weights[60u + pick[1]] + weights[110u + pick[2]] + weights[150u + pick[3]] * f32(pick[4]);
}
"""
WEIGHTS = np.random.default_rng(3).integers(-50, 50, 180).astype(np.float32)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
    ) as found:
        yield found


@pytest.fixture
def expected(lavapipe):
    return xl.search(SPACE, SCORE, 400, buffers={"weights": WEIGHTS}, devices=lavapipe)


def same(found, expected):
    assert np.array_equal(found.indices, expected.indices) and np.array_equal(found.values, expected.values)
    assert np.array_equal(found.picks, expected.picks)
    assert found.report.picks == expected.report.total and not found.report.cancelled


def test_three_workers_find_what_one_process_does(cluster, expected):
    told = []
    found = xl.search(
        SPACE, SCORE, 400, buffers={"weights": WEIGHTS}, devices="lavapipe", cluster=cluster.scheduler_address,
        on_progress=told.append,
    )  # fmt: skip
    same(found, expected)
    assert len(told) > 10 and told[-1].done == expected.report.total
    assert [item.done for item in told] == sorted(item.done for item in told)


def test_a_worker_that_is_killed_loses_nothing(cluster, expected):
    with distributed.Client(cluster) as client:
        killed = []

        def kill(progress):
            if not killed and progress.done:
                killed.append(sorted(client.scheduler_info(n_workers=-1)["workers"])[0])
                os.kill(client.run(os.getpid, workers=killed)[killed[0]], signal.SIGKILL)

        found = xl.search(
            SPACE, SCORE, 400, buffers={"weights": WEIGHTS}, devices=["lavapipe"], cluster=client, on_progress=kill
        )  # fmt: skip
        assert killed
        same(found, expected)


def test_what_a_cluster_cannot_do_is_said(cluster, lavapipe):
    with pytest.raises(xl.DeviceError, match="no scheduler answers"):
        xl.search((2,), "fn score(pick: array<u32, 1>) -> f32 { return 1.0; }", 1, cluster="tcp://127.0.0.1:1")
    with pytest.raises(TypeError, match="with cluster= give names"):
        xl.search((2,), "fn score(pick: array<u32, 1>) -> f32 { return 1.0; }", 1, cluster=cluster, devices=lavapipe)
    with pytest.raises(xl.ShaderError, match="score:1"):
        xl.search(
            (2,), "fn score(pick: array<u32, 1>) -> f32 { return nonsense; }", 1, cluster=cluster.scheduler_address,
            devices="lavapipe",
        )  # fmt: skip
