"""Which way processes are started, by what the system has; and what stands for what it lacks."""

import os
import time

import pytest

from distlab.processes import run_delay, starting
from distlab.processes.run_delay import RunDelay
from distlab.processes.spawned import Spawner
from distlab.processes.zygote import Zygote
from distlab.rank import standing


@pytest.fixture(autouse=True)
def nobody_asks(monkeypatch):
    monkeypatch.delenv(starting.SETTING, raising=False)


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="Linux alone forks ranks")
def test_linux_forks():
    way = starting.way()
    assert way.forks and "forked" in way.told()
    with way.source(()) as source:
        assert isinstance(source, Zygote)


@pytest.mark.parametrize(
    "hidden, said",
    [
        (("sys.platform", "darwin"), "a fork is not safe on macOS"),
        (("sys.platform", "freebsd14"), "a fork is not safe on freebsd14"),
        (("pathlib.Path.exists", lambda path: False), "/proc is not there"),
        (("ctypes.CDLL", lambda name: None), "nothing ends processes with those that started them"),
    ],
)
def test_where_something_is_missing_processes_are_spawned_and_the_reason_is_told(
    monkeypatch, hidden, said
):
    name, value = hidden
    monkeypatch.setattr(name, value)
    way = starting.way()
    assert not way.forks and "spawned" in way.told()
    assert said in way.told() or not os.path.exists("/proc/self/stat")
    with way.source(()) as source:
        assert isinstance(source, Spawner)


def test_the_portable_way_can_be_asked_for_and_nothing_else(monkeypatch):
    monkeypatch.setenv(starting.SETTING, "spawn")
    assert not starting.way().forks and "DISTLAB_PROCESSES=spawn" in starting.way().told()
    monkeypatch.setenv(starting.SETTING, "threads")
    with pytest.raises(ValueError, match="set it to spawn, or leave it out"):
        starting.way()


def test_grading_elsewhere_is_refused_in_one_sentence(monkeypatch):
    monkeypatch.setattr("sys.platform", "darwin")
    with pytest.raises(starting.NeedsLinux, match="^grading needs Linux .*: on macOS use a con"):
        starting.refuse_elsewhere("grading")


def test_asking_for_the_portable_way_does_not_keep_linux_from_grading(monkeypatch):
    monkeypatch.setenv(starting.SETTING, "spawn")
    starting.refuse_elsewhere("grading")


def test_linux_forks_with_a_python_that_knows_no_pidfd(monkeypatch):
    monkeypatch.delattr("os.pidfd_open", raising=False)
    if os.path.exists("/proc/self/stat"):
        assert starting.way().forks


@pytest.mark.parametrize("load, share", [(0.0, 1.0), (1.0, 1.0), (8.0, 0.25)])
def test_without_proc_the_load_tells_how_long_processes_waited(monkeypatch, load, share):
    now = [100.0]
    monkeypatch.setattr("os.path.exists", lambda path: False)
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(run_delay.machine, "cores", lambda: 2)
    monkeypatch.setattr(run_delay.time, "monotonic", lambda: now[0])
    delay = RunDelay()
    now[0] += 4.0
    assert delay.seconds([1, 2]) == pytest.approx(2 * 4.0 * (1 - share))
    now[0] += 1.0
    assert delay.seconds([1, 2]) == pytest.approx(2 * 5.0 * (1 - share))


def test_where_nothing_tells_of_the_load_no_second_counts_against_a_right_answer(monkeypatch):
    def silent():
        raise OSError

    monkeypatch.setattr("os.getloadavg", silent)
    assert run_delay.share() == 0.0


def test_without_clocks_of_threads_the_time_of_the_process_tells_who_computes(monkeypatch):
    monkeypatch.delattr(time, "pthread_getcpuclockid", raising=False)
    computed = standing._computed(0)
    before = computed()
    while computed() == before:  # computes until its clock has moved
        pass
    assert computed() > before
