"""Commands that run beside a notebook."""

import gc
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from distlab.course.lab09_when_it_breaks import job as jobs
from distlab.course.lab09_when_it_breaks.job import Job, JobFailed
from distlab.processes.wrong_argument import WrongArgument

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


@pytest.mark.parametrize(
    ("command", "told"),
    [(["ls"], "as you would type it"), ("", "is empty"), ("torchrunn a.py", "no program 'torchr"),
     ("python -c 'print()", "No closing quotation")],
)  # fmt: skip
def test_what_cannot_be_started_is_refused_in_a_sentence(command, told):
    with pytest.raises(WrongArgument, match=told):
        Job(command)


def test_a_program_is_looked_for_where_its_own_environment_says(tmp_path):
    (tmp_path / "mine").write_text("#!/bin/sh\necho $TORCH_DISTRIBUTED_DEBUG")
    (tmp_path / "mine").chmod(0o700)
    job = Job("mine", PATH=f"{tmp_path}:/usr/bin:/bin", TORCH_DISTRIBUTED_DEBUG="INFO")
    job.wait()
    assert job.output == "INFO\n"


def test_waiting_for_what_never_comes_says_what_was_printed():
    job = Job(SAYS.format("print('this and no more')"))
    with pytest.raises(JobFailed, match="ended early:\nthis and no more"):
        job.until("something else")


#: a line of two writes, the second of which comes after a signal
IN_TWO = (
    "asked = [signal.SIGUSR1]; signal.pthread_sigmask(signal.SIG_BLOCK, asked); "
    "print('rank 0 is process', end=''); signal.sigwait(asked); print(' 7'); signal.pause()"
)


def test_a_line_is_waited_for_until_it_is_whole(monkeypatch):
    job = Job(SAYS.format(IN_TWO))
    while "is process" not in job.output:
        assert job.process.poll() is None
    monkeypatch.setattr(jobs.time, "sleep", lambda _: os.kill(job.process.pid, signal.SIGUSR1))
    job.until("is process")
    assert job.workers == {0: 7}
    job.end()


def test_a_line_that_its_command_did_not_end_is_whole_with_the_command():
    job = Job(SAYS.format("print('no end of line', end='')"))
    job.until("no end of line")
    assert job.wait() == 0


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
    with pytest.raises(JobFailed, match="has not started rank 2 yet"):
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


#: a worker that has ended, and one in a session of its own, as torchrun starts them
TWO_WORKERS = SAYS.format(
    "import subprocess as s; dead = s.Popen(['true']); dead.wait(); "
    "print('rank 0 is process', dead.pid); live = s.Popen(['sleep', '60'], start_new_session=True);"
    "print('rank 1 is process', live.pid); signal.pause()"
)


@pytest.mark.parametrize("over", [False, True])
def test_a_worker_ends_with_its_job_also_where_another_one_or_the_command_has_ended(over):
    job = Job(TWO_WORKERS)
    job.until("rank 1 is process")
    if over:
        job.process.kill()
        job.wait()
    job.end()
    assert gone(job.workers[1])


def test_a_process_that_is_not_the_jobs_is_left_alone():
    other = subprocess.Popen(["sleep", "60"])
    try:
        job = Job(SAYS.format(f"print('rank 0 is process {other.pid}')"))
        job.wait()
        job.end()
        assert other.poll() is None
    finally:
        other.kill()
    assert other.wait() == -9


@pytest.mark.parametrize("command", [SAYS.format("print(1)"), "no-such-program"])
def test_the_folder_of_its_output_goes_with_it(command, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try:
        job = Job(command)
    except WrongArgument as error:
        assert repr(command) in str(error)
        error.__traceback__ = None  # whose frames hold the job
    else:
        job.wait()
        assert job.output and len(list(Path(tmp_path).iterdir())) == 1
        job.end()
        del job
    gc.collect()
    assert list(Path(tmp_path).iterdir()) == []


def test_one_that_takes_too_long_is_ended():
    job = Job(SAYS.format("signal.pause()"))
    with pytest.raises(JobFailed, match="had not ended after 0 s"):
        job.wait(patience=0.1)
    assert job.process.poll() is not None


@pytest.mark.parametrize("waited", [lambda job: job.wait(), lambda job: job.until("x")])
def test_the_notebooks_stop_button_is_told_in_a_sentence(monkeypatch, waited):
    def stop(*_):
        raise KeyboardInterrupt

    job = Job(SAYS.format("signal.pause()"))
    monkeypatch.setattr(job.process, "wait", stop)
    monkeypatch.setattr(jobs.time, "sleep", stop)
    with pytest.raises(KeyboardInterrupt) as caught:
        waited(job)
    monkeypatch.undo()
    job.end()
    assert caught.value._render_traceback_() == [
        "KeyboardInterrupt: interrupted while the job is waited for"
    ]
