"""Commands that run beside a notebook."""

import os
import select
import sys

import pytest

from distlab.course.lab09_when_it_breaks.job import Job

SAYS = f'{sys.executable} -c "import signal; {{}}"'


def gone(pid):
    """Has this process ended, or does it within a while?"""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], 20)[0])
    finally:
        os.close(process)


def test_what_it_prints_can_be_waited_for_and_read():
    job = Job(SAYS.format("print('one'); print('two'); print('three')"))
    job.until("three")
    assert job.wait() == 0
    assert job.lines("one", "three") == "one\nthree"
    assert repr(job).startswith("$ ")


def test_its_environment_holds_what_it_was_given_and_how_gloo_finds_loopback():
    job = Job(
        f"{sys.executable} -c \"import os; print(os.environ['MORE'], "
        "os.environ['GLOO_SOCKET_IFNAME'])\"",
        MORE="than before",
    )
    job.wait()
    assert job.output.startswith("than before ")


def test_waiting_for_what_never_comes_says_what_was_printed():
    job = Job(SAYS.format("print('this and no more')"))
    with pytest.raises(RuntimeError, match="ended early:\nthis and no more"):
        job.until("something else")


def test_the_workers_are_those_that_were_started_last():
    lines = "print('rank 0 is process 1'); print('rank 0 of 2 is process 7, restart 1')"
    job = Job(SAYS.format(lines))
    job.wait()
    assert job.workers == {0: 7}


def test_a_worker_can_be_killed():
    tell = "import os; print('rank 3 is process', os.getpid()); signal.pause()"
    job = Job(SAYS.format(tell))
    job.until("is process")
    assert job.kill(rank=3) == job.process.pid
    assert job.wait() == -9


def test_killing_a_worker_of_a_job_that_is_over_says_its_first_error():
    lines = ("rank 1 is process 4194305", "[rank1]: NameError: oh", "GlooError: closed", "the end")
    job = Job(SAYS.format(";".join(f"print({line!r})" for line in lines)))
    job.wait()
    with pytest.raises(RuntimeError, match="over already.* first error: .rank1.: NameError: oh$"):
        job.kill(rank=1)


def test_killing_a_worker_that_has_not_started_says_so():
    job = Job(SAYS.format("signal.pause()"))
    with pytest.raises(RuntimeError, match="has not started rank 2 yet"):
        job.kill(rank=2)
    job.end()


def test_killing_a_worker_that_has_ended_while_its_job_goes_on_says_so():
    lines = ("rank 1 is process 4194305", "[rank1]: NameError: oh")
    job = Job(SAYS.format(";".join(f"print({line!r})" for line in lines) + ";signal.pause()"))
    job.until("NameError")
    with pytest.raises(RuntimeError, match="rank 1 has ended, .* first error: .*NameError: oh$"):
        job.kill(rank=1)
    job.end()


def test_it_is_ended_with_all_that_it_has_started():
    start = "import subprocess; print('rank 1 is process', subprocess.Popen(['sleep', '60']).pid)"
    job = Job(SAYS.format(f"{start}; signal.pause()"))
    job.until("is process")
    job.end()
    assert gone(job.workers[1])
    assert job.process.poll() is not None


def test_one_that_takes_too_long_is_ended():
    job = Job(SAYS.format("signal.pause()"))
    with pytest.raises(RuntimeError, match="had not ended after 0 s"):
        job.wait(patience=0.1)
    assert job.process.poll() is not None
