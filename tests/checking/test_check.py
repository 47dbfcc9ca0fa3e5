"""`check(fn)` shows a verdict to act on, in a terminal as in a notebook."""

import functools
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
import types
import warnings

import cloudpickle
import pytest
import torch
import torch.distributed as dist

from distlab import check, course
from distlab.checking.check import CheckFailed
from distlab.engines.ranks import end_local
from distlab.exercises.reference import NoReference
from distlab.exercises.verdict import Verdict
from distlab.processes.wrong_argument import WrongArgument
from distlab.viz.widget import kernel
from grader import collected
from grader.coursedir import LABS, SOLUTIONS

cloudpickle.register_pickle_by_value(sys.modules[__name__])


@pytest.fixture(autouse=True)
def lab(monkeypatch):
    """A notebook is opened in its own folder."""
    monkeypatch.chdir(LABS / "01-message-passing")
    monkeypatch.setattr(sys.modules["distlab.checking.check"], "_references", {})


def exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
        request.wait()
    return received


def test_the_function_is_found_whoever_has_imported_its_module_before():
    program = (
        "import distlab.checking.check, distlab.viz.timeline\n"
        "from distlab import check, timeline\n"
        "assert callable(check) and callable(timeline)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_a_right_answer_is_said_to_be_right(capsys):
    assert check(exchange) is None
    assert "exchange passed its" in capsys.readouterr().out


def test_a_wrong_answer_is_told_what_was_expected_what_happened_and_where_to_look(capsys):
    def exchange(rank, size, tensor):
        return tensor

    with pytest.raises(CheckFailed) as failed:
        check(exchange)
    verdict: Verdict = failed.value.verdict
    assert verdict.status == "wrong"
    assert "partner" in verdict.expected and "rank 0" in verdict.happened and verdict.look
    printed = capsys.readouterr().out
    for part in ("expected:", "happened:", "look:"):
        assert part in printed


def test_a_verdict_is_shown_once_and_the_exception_is_one_short_line(monkeypatch):
    def exchange(rank, size, tensor):
        return tensor

    with pytest.raises(CheckFailed) as failed:
        check(exchange)
    assert failed.value._render_traceback_() == ["CheckFailed: exchange: wrong"]
    # nbgrader's Validate shows of a cell that failed its exception alone
    monkeypatch.setenv("NBGRADER_EXECUTION", "validate")
    (told,) = failed.value._render_traceback_()
    assert failed.value.verdict.message in told.replace("\n", " ")
    assert max(map(len, told.splitlines())) <= 100


def test_a_todo_is_unanswered():
    def relay(rank, size, tensor):
        raise NotImplementedError("TODO relay")

    with pytest.raises(CheckFailed, match="relay: unanswered"):
        check(relay)


def test_what_is_too_large_to_be_graded_is_told_in_the_notebook_already(monkeypatch):
    large = bytes(2_000)

    def exchange(rank, size, tensor):
        return large

    monkeypatch.setattr("distlab.engines.by_value.ANSWER_LIMIT", 1_000)
    with pytest.raises(CheckFailed, match="exchange: error") as failed:
        check(exchange)
    assert failed.value.verdict.happened.startswith("What exchange uses of the notebook has 0 MB,")


def test_what_cannot_be_sent_to_a_rank_is_named_and_no_rank_is_said_to_have_raised(tmp_path):
    log = open(tmp_path / "log", "w")  # noqa: SIM115 - it is what a cell forgets to close

    def exchange(rank, size, tensor):
        print(rank, file=log)

    with pytest.raises(CheckFailed, match="exchange: error") as failed:
        check(exchange)
    assert failed.value.verdict.happened == (
        "log, which exchange uses, is an open file and cannot be sent to another process: "
        "open it inside exchange."
    )


def test_the_name_of_the_exercise_can_be_given():
    check(lambda *arguments: exchange(*arguments), "exchange")


@pytest.mark.parametrize(
    "cell",
    [
        "exchange = functools.partial(swap)",
        "def timed(*arguments):\n    return swap(*arguments)\n\nexchange = timed",
        "class Swap:\n    __call__ = staticmethod(swap)\n\nexchange = Swap()",
    ],
)
def test_an_answer_that_has_another_name_or_none_is_known_by_the_name_in_its_notebook(cell):
    notebook = {"__name__": "__main__", "check": check, "swap": exchange, "functools": functools}
    exec(cell, notebook)
    exec("check(exchange)", notebook)
    exec("relay = lambda rank, size, tensor: tensor", notebook)
    with pytest.raises(CheckFailed, match="relay: wrong"):
        check(notebook["relay"])


def test_a_decorator_s_function_that_is_called_as_another_exercise_is_known_by_its_own_name():
    """`wrap` is an exercise of lab 03, and a usual name for what a decorator returns."""
    notebook = {"__name__": "__main__", "check": check, "plain": exchange}
    exec("def wrap(*arguments):\n    return plain(*arguments)\n\nexchange = wrap", notebook)
    del notebook["wrap"]  # it was a local name of the decorator's
    exec("check(exchange)", notebook)
    exec("def tried(answer):\n    check(answer)\n\ntried(exchange)", notebook)


def test_of_an_answer_to_two_exercises_the_one_is_checked_whose_name_is_written():
    notebook = {"__name__": "__main__", "check": check, "plain": exchange}
    exec("relay = exchange = lambda *arguments: plain(*arguments)", notebook)
    exec("check(exchange)", notebook)
    exec("def exchange(*arguments):\n    return plain(*arguments)\n\nrelay = exchange", notebook)
    exec("check(exchange)", notebook)
    with pytest.raises(CheckFailed, match="relay: "):
        exec("check(relay)", notebook)


def test_an_object_that_has_every_attribute_is_no_obstacle():
    class Odd:
        __call__ = staticmethod(exchange)

        def __getattr__(self, name):
            return None

    with pytest.raises(course.NoExercise, match="this is of type Odd: write"):
        check(Odd())


def test_a_function_that_is_no_exercise_is_said_to_be_none():
    with pytest.raises(ValueError, match="there is no exercise 'exchagne': did you mean exchange?"):
        check(exchange, "exchagne")
    with pytest.raises(course.NoExercise, match="there is no exercise '<lambda>'$") as failed:
        check(lambda rank, size: rank)
    assert failed.value._render_traceback_() == [f"NoExercise: {failed.value}"]


@pytest.mark.parametrize("answer", ["relay", None, 3, torch.zeros(2)])
def test_who_hands_over_something_else_than_the_function_is_told_how_it_is_done(answer):
    told = pytest.raises(course.NoExercise, match="without quotes and without parentheses")
    with told as refused:
        check(answer)
    assert f"check({answer if answer == 'relay' else 'exchange'}) say" in str(refused.value)


def test_two_functions_at_once_are_refused_in_one_sentence():
    with pytest.raises(WrongArgument, match="one function at a time"):
        check(exchange, exchange)


def test_a_notebook_away_from_its_folder_is_told_so(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(NoReference, match="open the notebook in the folder that it came in"):
        check(exchange)


def test_a_cell_that_has_gone_to_another_folder_takes_the_references_along(monkeypatch, tmp_path):
    shell = types.SimpleNamespace(starting_dir=os.getcwd(), kernel=None)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kernel, "shell", lambda: shell)
    check(exchange)


def test_the_html_form_says_the_same_and_has_the_picture():
    from distlab.checking.check import Local, Shown, _reference
    from distlab.exercises.judge import judge

    def exchange(rank, size, tensor):
        dist.recv(tensor, rank ^ 1)

    asked = course.find("01-message-passing/exchange")
    verdict = judge(asked, asked.visible, _reference, Local(exchange, 2))
    page = Shown(verdict)._repr_html_()
    assert verdict.status == "deadlock"
    assert "rank 0 waits in recv(src=1)" in page and "<svg" in page


def test_a_verdict_quotes_the_line_that_it_names(capsys):
    def exchange(rank, size, tensor):
        dist.recv(
            tensor,
            rank ^ 1,
        )

    with pytest.raises(CheckFailed) as failed:
        check(exchange)
    ((place, text),) = failed.value.verdict.lines
    assert text == "dist.recv( tensor, rank ^ 1, )" and place in failed.value.verdict.happened
    assert f"{place}  {text}" in capsys.readouterr().out
    assert f"{place} is `{text}`." in failed.value.verdict.message


def crowding() -> float:
    """How many times longer a computation takes now than the processor works for it."""
    begin, worked = time.monotonic(), time.process_time()
    while time.process_time() - worked < 0.03:
        sum(range(1000))
    return (time.monotonic() - begin) / (time.process_time() - worked)


def test_a_check_on_warm_ranks_costs_at_most_a_tenth_of_a_second_more_than_the_code_itself():
    from distlab.checking.check import Local, Shown, _reference
    from distlab.exercises.judge import judge

    asked, local, own = course.find("01-message-passing/exchange"), Local(exchange, 2), []

    def timed(*case):
        run = local(*case)
        own[-1] += max(outcome.seconds for outcome in run.outcomes)
        return run

    more = []
    for _ in range(17):
        own.append(0.0)
        crowded, begin = crowding(), time.monotonic()
        verdict = judge(asked, asked.visible[:1], _reference, timed)
        assert "<svg" in Shown(verdict)._repr_html_() and verdict.status == "passed"
        # what else the machine does is no cost of a check
        more.append((time.monotonic() - begin - own[-1]) / crowded)
    assert statistics.median(more[2:]) < 0.1, more  # the first ones start ranks


def from_plain_python(folder, path, asked):
    """What a check of a notebook's function says, away from Jupyter."""
    for name in (path.name, "reference.json", "reference.safetensors"):
        if not (folder / name).exists():
            shutil.copy(path.parent / name, folder)
    code = (
        "from distlab import check\nfrom distlab.notebook import load\n"
        f"check(load({path.name!r}).{asked})\n"
    )
    return subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120
    )


def test_a_function_of_a_notebook_is_checked_from_plain_python(tmp_path):
    lab = SOLUTIONS / "01-message-passing" / "message_passing.ipynb"
    done = from_plain_python(tmp_path, lab, "exchange")
    assert done.returncode == 0 and "exchange passed" in done.stdout, done.stderr


def test_in_plain_python_too_the_function_that_is_still_to_be_written_is_named(tmp_path):
    lab = LABS / "04-ring-allreduce" / "ring_allreduce.ipynb"
    answer = "def ring_all_reduce(rank, size, tensor):\n    ring_reduce_scatter(rank, size, [])\n"
    half = collected.filled(json.loads(lab.read_text("utf-8")), ring_all_reduce=answer)
    (tmp_path / lab.name).write_text(json.dumps(half), "utf-8")
    done = from_plain_python(tmp_path, lab, "ring_all_reduce")
    assert "ring_all_reduce calls ring_reduce_scatter, which is still to be written" in done.stdout


def test_a_warning_decides_nothing_whatever_the_environment_asks_for(monkeypatch):
    def exchange(rank, size, tensor):
        warnings.warn("there is a newer name for it", FutureWarning, stacklevel=2)
        received = torch.empty_like(tensor)
        for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
            request.wait()
        return received

    end_local()
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    try:
        assert check(exchange) is None
    finally:
        end_local()
