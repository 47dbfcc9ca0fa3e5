"""What tests of ranks share."""

import os

import pytest

from distlab.engines.ranks import end_local
from distlab.processes.zygote import PRELOAD


@pytest.fixture
def gate(tmp_path, monkeypatch):
    """Opened for writing, it lets the source of ranks import the last module."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    (tmp_path / "imported_late.py").write_text(f"open({str(gate)!r}).read()")
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    preload = (*PRELOAD, "imported_late")
    monkeypatch.setattr("distlab.engines.ipyparallel.PRELOAD", preload)
    monkeypatch.setattr("distlab.engines.ranks.PRELOAD", preload)
    end_local()
    yield gate
    end_local()
