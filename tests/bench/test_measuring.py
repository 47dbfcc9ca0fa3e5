"""Benchmarks that run ranks of their own end when these fail, and leave the folder as it was."""

import os

import pytest

from bench import choices, recorder


def fails(rank):
    raise ValueError("no")


def test_ranks_that_fail_end_the_measurement():
    with pytest.raises(RuntimeError, match=r"ranks \[0, 1\] failed"):
        recorder._run(fails, recorded=False)


def test_what_is_measured_in_a_labs_folder_leaves_the_folder_as_it_was(monkeypatch):
    """Where results are written is said relative to it."""
    monkeypatch.setattr(choices, "REPEATS", 1)
    before = os.getcwd()
    assert len(list(choices.measure())) == 2 and os.getcwd() == before
