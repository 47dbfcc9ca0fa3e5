"""The gradebook and its pages have one writer at a time, whatever runs beside it."""

import concurrent.futures
import contextlib
import threading

import pytest

from grader import coursedir
from grader.plugins.gradebook import Gradebook

LAB = "01-message-passing"
DONE = {"success": True}


@pytest.fixture
def books(tmp_path, monkeypatch):
    """Two gradebooks of one folder, as two commands have them; nbgrader's steps wait for those of
    the other, and note whether they have met.
    """
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    met, both = [], threading.Barrier(2, timeout=0.5)

    def step(*_):
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait()
            met.append(True)
        return DONE

    made = [Gradebook(tmp_path / "submitted") for _ in range(2)]
    for book in made:
        for name in ("autograde", "generate_feedback", "release_feedback"):
            monkeypatch.setattr(book._api, name, step)
    return made, met


@pytest.mark.parametrize("steps", [("enter", "write_feedback"), ("enter", "release_feedback")])
def test_two_graders_do_not_write_a_page_at_once(books, steps):
    both, met = books
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        calls = [
            pool.submit(getattr(book, step), LAB, "ada")
            for book, step in zip(both, steps, strict=True)
        ]
        for call in calls:
            call.result()
    assert not met
