"""Commands from a notebook: this Python's launcher, a clean environment, a limit."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import textwrap
import threading

import pytest

from distlab.engines import command
from distlab.processes.wrong_argument import WrongArgument


def script(tmp_path, text):
    path = tmp_path / "script.py"
    path.write_text(text)
    return path


def test_it_is_this_pythons_and_its_output_and_status_come_back(tmp_path):
    path = script(
        tmp_path, "import sys\nprint(sys.argv[1:])\nprint('end', file=sys.stderr)\nexit(3)"
    )
    output, status = command.output_of(f"python {path} --ranks 2")
    assert output.splitlines() == ["['--ranks', '2']", "end"] and status == 3


def test_what_another_launcher_left_is_not_believed(tmp_path, monkeypatch):
    monkeypatch.setenv("RANK", "7")
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    path = script(tmp_path, "import os\nprint('RANK' in os.environ, os.environ['OMP_NUM_THREADS'])")
    assert command.output_of(f"python {path}") == ("False 3\n", 0)
    assert os.environ["RANK"] == "7"


def test_a_command_that_does_not_end_is_ended(tmp_path):
    path = script(tmp_path, "import signal\nprint('begun', flush=True)\nsignal.pause()")
    output, status = command.output_of(f"python {path}", limit=2)
    assert status < 0 and "Traceback" not in output


def test_what_a_command_leaves_running_does_not_outlast_the_limit(tmp_path):
    """It has closed its output, and goes on."""
    path = script(tmp_path, "import os, signal\nos.closerange(0, 3)\nsignal.pause()")
    assert command.output_of(f"python {path}", limit=2) == ("", -signal.SIGTERM)


def test_a_terminal_says_that_a_command_was_ended_and_not_which_signal_did_it(tmp_path, capsys):
    path = script(tmp_path, "import signal\nprint('begun', flush=True)\nsignal.pause()")
    command.terminal(f"python {path}", limit=2)
    assert capsys.readouterr().out.splitlines()[-1] == "not done after 2 s, and ended"


def test_an_interrupted_terminal_is_told_in_a_sentence(tmp_path, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    path = script(tmp_path, "import signal\nsignal.pause()")
    monkeypatch.setattr(command._Shown, "join", stop)  # the notebook's stop button
    monkeypatch.setattr(command, "_end", lambda process, shown: process.kill())
    with pytest.raises(KeyboardInterrupt) as caught:
        command.terminal(f"python {path}")
    (said,) = caught.value._render_traceback_()
    assert said.startswith("KeyboardInterrupt: interrupted while the command runs")


def test_where_no_thread_can_start_nothing_is_left_running(monkeypatch):
    def refused(_):
        raise RuntimeError("can't start new thread")

    began, pairs, pair = [], [], command._terminal_pair
    monkeypatch.setattr(command, "_terminal_pair", lambda: pairs.append(pair()) or pairs[0])
    monkeypatch.setattr(threading.Thread, "start", refused)
    monkeypatch.setattr(subprocess, "Popen", lambda *words, **how: began.append(words))
    with pytest.raises(RuntimeError):
        command.output_of("python -c pass")
    assert not began
    for end in pairs[0]:
        with pytest.raises(OSError, match="Bad file descriptor"):
            os.fstat(end)


def test_a_program_that_is_not_there_is_told_as_a_shell_tells_it(capsys):
    command.terminal("torchrunn --standalone mp.py")
    said = ["$ torchrunn --standalone mp.py", "torchrunn: command not found", "exit status 127"]
    assert capsys.readouterr().out.splitlines() == said


def test_a_program_that_may_not_be_executed_is_told_as_a_shell_tells_it(tmp_path, capsys):
    path = script(tmp_path, "")
    command.terminal(f"{path} --epochs 3", only="epoch")
    said = [f"{path}: Permission denied", "exit status 126"]
    assert capsys.readouterr().out.splitlines()[1:] == said


@pytest.mark.parametrize("given", ["", "  ", ["ls"], None])
def test_what_is_no_command_is_refused_in_words(given):
    with pytest.raises(WrongArgument, match="takes a command as you would type it"):
        command.terminal(given)


def test_there_may_be_no_limit():
    assert command.output_of("echo done", limit=float("inf")) == ("done\n", 0)


def test_a_limit_that_is_no_number_is_refused_in_words():
    with pytest.raises(WrongArgument, match="limit is a number of seconds"):
        command.output_of("ls", limit="10 s")


@pytest.mark.parametrize("terminals", (True, False))
def test_lines_of_two_processes_do_not_mix(tmp_path, monkeypatch, terminals):
    """Each printed in several pieces, by two who print at the same moment."""
    if not terminals:
        monkeypatch.setattr(os, "openpty", lambda: os.open("/no such terminal", os.O_RDWR))
    text = """
        import os
        other = os.fork()
        for _ in range(300):
            print("rank", "first" if other else "second", "prints", "words")
        other and os.wait()
    """
    path = script(tmp_path, textwrap.dedent(text))
    output, status = command.output_of(f"python {path}")
    assert status == 0 and len(output.splitlines()) == 600
    assert set(output.splitlines()) == {f"rank {one} prints words" for one in ("first", "second")}


def test_a_line_is_there_before_its_process_is_killed(tmp_path):
    path = script(tmp_path, "import os\nprint('rank', 1)\nos.kill(os.getpid(), 9)")
    assert command.output_of(f"python {path}") == ("rank 1\n", -signal.SIGKILL)


def test_what_a_command_has_started_ends_with_it(tmp_path):
    text = """
        import subprocess, sys
        hang = "import signal; print('up', flush=True); signal.pause()"
        child = subprocess.Popen([sys.executable, "-c", hang])
        child.wait()
    """
    path = script(tmp_path, textwrap.dedent(text))
    output, status = command.output_of(f"python {path}", limit=3)
    assert status < 0 and set(output.split()) <= {"up"}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells who has started whom")
@pytest.mark.parametrize("launcher", ["deaf", "ends"])
def test_ranks_in_sessions_of_their_own_end_with_their_launcher(tmp_path, monkeypatch, launcher):
    """As torchrun's are. They hear no SIGTERM, nor does the launcher, or it ends without them."""
    monkeypatch.setattr(command, "_PARTING", 1.0)
    text = f"""
        import signal, subprocess, sys
        rank = '''
        import os, signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid())
        signal.pause()
        '''
        if {launcher == "deaf"}:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen([sys.executable, "-c", rank], start_new_session=True).wait()
    """
    path = script(tmp_path, textwrap.dedent(text))
    output, limit = "", 1.5
    while not output and limit < 60:  # a busy machine may not have come to the rank by then
        limit *= 2
        output, status = command.output_of(f"python {path}", limit=limit)
    assert status == -(signal.SIGKILL if launcher == "deaf" else signal.SIGTERM)
    with contextlib.suppress(ProcessLookupError):
        assert select.select([os.pidfd_open(int(output))], [], [], 10)[0], "it goes on"


def test_a_python_that_knows_no_pidfd_ends_a_command(tmp_path, monkeypatch):
    monkeypatch.delattr("os.pidfd_open", raising=False)
    monkeypatch.delattr("signal.pidfd_send_signal", raising=False)
    text = """
        import subprocess, sys
        subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"]).wait()
    """
    path = script(tmp_path, textwrap.dedent(text))
    assert command.output_of(f"python {path}", limit=2) == ("", -signal.SIGTERM)


def test_the_lines_that_are_asked_for_are_shown_and_a_failure_is_told(tmp_path, capsys):
    path = script(tmp_path, "print('rank 0')\nprint('noise')")
    command.terminal(f"python {path}", only=("rank", "process"))
    assert capsys.readouterr().out.splitlines() == [f"$ python {path}", "rank 0"]
    path.write_text("print('rank 0')\nprint('noise')\nexit('no such port')")
    command.terminal(f"python {path}", only=("rank", "process"))
    told = capsys.readouterr().out.splitlines()
    assert told[:2] == [f"$ python {path}", "rank 0"]
    assert told[-2:] == ["no such port", "exit status 1"]


def test_the_exceptions_of_ranks_are_shown_whatever_lines_are_asked_for(tmp_path, capsys):
    """A launcher's own long story of their failure is left out, and what all ranks say is said
    once. Here rank 1 fails when it is ended because rank 0 has.
    """
    text = """
        import os, signal
        def train(*_):
            raise ValueError("no batch")
        signal.signal(signal.SIGTERM, train)
        os.write(1, f"rank {os.environ['RANK']}\\n".encode())  # whole: torchrun has no buffer
        signal.pause() if os.environ["RANK"] == "1" else train()
    """
    path = script(tmp_path, textwrap.dedent(text).strip())
    command.terminal(f"torchrun --standalone --nproc-per-node=2 {path}", only="rank", limit=300)
    _, *ranks, error, status = capsys.readouterr().out.splitlines()
    assert set(ranks) <= {"rank 0", "rank 1"}
    assert error == f'File "{path}", line 3, in train: ValueError: no batch'
    assert status == "exit status 1"


_BEGIN, _MAIN = "Traceback (most recent call last):", '  File "a.py", line 9, in <module>'
_TRAIN, _TEST = '  File "a.py", line 3, in train', '  File "a.py", line 7, in test'


@pytest.mark.parametrize(
    "lines, told",
    (
        # of two ranks that fail alike at the same moment
        (
            [_BEGIN, _MAIN, _TRAIN, _BEGIN, _MAIN, "OSError: a", _TRAIN, "OSError: a"],
            [f"{_TRAIN.strip()}: OSError: a"],
        ),
        # of two that fail in different places: whose is whose cannot be told
        (
            [_BEGIN, _BEGIN, _MAIN, _TRAIN, _MAIN, _TEST, "OSError: a", "OSError: b"],
            ["OSError: a", "OSError: b"],
        ),
        # of one, and of one that was ended while it printed
        (
            [_BEGIN, _MAIN, _BEGIN, _MAIN, _TRAIN, "OSError: a", "[ended]"],
            ["OSError: a", "[ended]"],
        ),
    ),
)
def test_tracebacks_whose_lines_are_mixed(lines, told):
    assert command._ended_with("\n".join(lines)) == told
