"""A kernel of Jupyter in this environment, for tests that send it messages one by one."""

from __future__ import annotations

import pytest
from jupyter_client import KernelManager

PATIENCE_S = 60


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """A client of a kernel in this environment; its manager is `kernel.parent`."""
    for variable in ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "IPYTHONDIR"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.blocking_client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=PATIENCE_S)
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
