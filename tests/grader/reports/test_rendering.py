"""A page costs a limited time and size, whoever wrote what it shows."""

import errno
import os
import resource
import threading
import time
from pathlib import Path

import pytest

from grader.reports import rendering
from grader.reports.rendering import NotMade, Renderer


@pytest.fixture
def renderer(monkeypatch):
    """A renderer that finds `slow_pages`; and it is the one of this process."""
    places = [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(places))
    made = Renderer(seconds=0.5, size=10_000, preload=())
    monkeypatch.setattr(rendering, "renderer", lambda: made)
    yield made
    made.close()


def test_a_page_is_what_its_maker_returns(renderer):
    assert renderer.make("slow_pages:fine", {"said": "ä\ud800"}) == "<p>ä? </p>"


def test_a_page_that_takes_too_long_is_ended_and_the_next_one_is_made(renderer):
    renderer.make("slow_pages:fine", {})
    begin = time.monotonic()
    with pytest.raises(NotMade, match=r"took more than 0\.5 s"):
        renderer.make("slow_pages:without_end", {})
    assert time.monotonic() - begin < 30  # on a busy machine: half a second of the processor's time
    assert renderer.make("slow_pages:fine", {"said": "next"}) == "<p>next </p>"


@pytest.mark.parametrize(
    ("maker", "said"),
    [("hungry", "MemoryError"), ("failing", "KeyError"), ("ending", "exit status 3"),
     ("nothing", "AttributeError")],
)  # fmt: skip
def test_a_maker_that_fails_ends_nothing_else(renderer, maker, said):
    with pytest.raises(NotMade, match=said):
        renderer.make(f"slow_pages:{maker}", {})
    assert renderer.make("slow_pages:fine", {"said": "next"}) == "<p>next </p>"


def test_a_page_that_is_too_large_is_not_taken(renderer):
    assert len(renderer.make("slow_pages:large", {"size": 10_000})) == 10_000
    with pytest.raises(NotMade, match="more than 0.0095"):
        renderer.make("slow_pages:large", {"size": 10_001})


def test_in_place_of_a_page_that_was_not_made_there_is_a_plain_one_that_says_why(renderer):
    assert rendering.page("slow_pages:slow_in_colours") == "making it took more than 0.5 s"
    last = rendering.page("slow_pages:failing")
    assert "This page could not be made: it ended with a KeyError" in last


def test_a_page_is_made_where_thousands_of_files_are_open(renderer):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = 4096 if hard == resource.RLIM_INFINITY else min(4096, hard)
    if most < 1200:
        pytest.skip("this account may not open that many")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, most), hard))
    opened = [os.open(os.devnull, os.O_RDONLY) for _ in range(1024)]
    try:
        assert renderer.make("slow_pages:fine", {}) == "<p> </p>"
    finally:
        for handle in opened:
            os.close(handle)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_after_an_interrupt_nobody_gets_the_page_of_somebody_else(renderer, monkeypatch):
    renderer.make("slow_pages:fine", {"said": "first"})

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(renderer, "_answer", interrupted)
        with pytest.raises(KeyboardInterrupt):
            renderer.make("slow_pages:fine", {"said": "ada's"})
    assert renderer.make("slow_pages:fine", {"said": "ben's"}) == "<p>ben's </p>"


def test_where_no_process_can_be_started_that_is_said_and_the_next_page_is_made(
    renderer, monkeypatch
):
    def refused(*words, **options):
        raise BlockingIOError(errno.EAGAIN, "no more processes")

    with monkeypatch.context() as patched:
        patched.setattr(rendering.subprocess, "Popen", refused)
        renderer.start()
        with pytest.raises(NotMade, match="no process could be started .*no more processes"):
            renderer.make("slow_pages:fine", {})
    assert renderer.make("slow_pages:fine", {}) == "<p> </p>"


def test_threads_get_their_own_pages(renderer):
    found = {}

    def ask(number):
        found[number] = renderer.make("slow_pages:fine", {"said": str(number)})

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {number: f"<p>{number} </p>" for number in range(20)}


def test_the_process_ends_with_whoever_asked(renderer):
    renderer.make("slow_pages:fine", {})
    process = renderer._process
    renderer._socket.close()  # as if we had been killed
    process.wait(timeout=60)
    assert process.returncode == 0


def test_a_process_that_was_killed_is_started_again(renderer):
    renderer.make("slow_pages:fine", {})
    renderer._process.kill()
    renderer._process.wait()
    assert renderer.make("slow_pages:fine", {}) == "<p> </p>"
