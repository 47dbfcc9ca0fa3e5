"""The command line answers at once, says in one line what is wrong, and runs lab programs."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap

import pytest
from command_line import distlab

from distlab import cli, course
from distlab.cli.parts import Refused, write_json
from distlab.exercises.verdict import Verdict
from grader import coursedir


@pytest.mark.parametrize(
    "command", [[], ["info"], ["check"], ["run"], ["submit"], ["grade"], ["reference"], ["bench"]]
)
def test_every_command_has_help_with_an_example(command):
    done = distlab(*command, "--help")
    assert done.returncode == 0
    assert not command or f"example: distlab {command[0]}" in done.stdout


@pytest.mark.parametrize("words", [["--help"], ["info"]])
def test_help_and_info_import_neither_torch_nor_ipyparallel(words):
    program = f"""
    import sys
    from distlab.cli import main
    try:
        main({words!r})
    except SystemExit:
        pass
    assert not {{"torch", "ipyparallel", "nbgrader", "numpy"}} & set(sys.modules), "heavy imports"
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("variable", ["DISTLAB_MAX_RANKS", "DISTLAB_PROCESSES"])
def test_info_says_which_variable_is_wrong_and_goes_on(variable):
    done = distlab("info", **{variable: "some"})
    assert done.returncode == 0 and not done.stderr
    assert f" {variable}=some is " in done.stdout and "Open MPI " in done.stdout


def test_a_reader_that_has_seen_enough_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "distlab", "info"]
    done = subprocess.run(
        words, cwd=coursedir.ROOT, stdout=writing, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")


def test_usage_that_makes_no_sense_is_exit_status_2():
    assert distlab("grade", "--jobs", "many").returncode == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["grade", "--jobs", "-3"], "argument --jobs: '-3' is no number of 1 or more"),
        (["grade", "--jobs", "0"], "argument --jobs: '0' is no number of 1 or more"),
        (["variants", "hand-out", "01-message-passing", "--jobs", "x"], "'x' is no number of 1"),
        (["grade", "--json", "/none/x.json"], "argument --json: the folder /none is not there"),
        (["check", "README.md", "--json", "docs"], "docs is a folder: name a file in it"),
        (["check", "README.md", "--json", "x" * 300], "cannot be written (File name too long)"),
        (["run", "x.py", "--timeout", "-5"], "'-5' is no number of seconds above 0"),
        (["run", "--timeout", "nan", "x.py"], "'nan' is no number of seconds above 0"),
        (["run", "x.py", "--trace", "/none/t.json"], "--trace: the folder /none is not there"),
        (["explain", "x", "--svg", "/none/t.svg"], "--svg: the folder /none is not there"),
        (["bench", "--json", "/none/x.json"], "--json: the folder /none is not there"),
        (["gradee"], "there is no 'gradee' (did you mean grade?); choose from info, fetch, "),
        (["export", "--for", "canva"], "there is no 'canva' (did you mean canvas?); choose from"),
        (["new", "exercise"], "new exercise: error: the following arguments are required: LAB, NA"),
        (["new", "exercise", "1"], "error: the following arguments are required: NAME\n"),
        (["run"], "run: error: the following arguments are required: NOTEBOOK_OR_SCRIPT\n"),
        (["run", "x.py", "--ranks", "two"], "distlab run: error: argument --ranks: "),
        (["fetch", ""], "fetch: error: argument LAB: it is empty: write what it is to be\n"),
        (["grade", "1", "--submitted", ""], "argument --submitted: it is empty: write what it is"),
        (["export", "--for", "csv", "--lab", ""], "argument --lab: it is empty: write what it"),
        (["reference"], "error: the following arguments are required: record|verify\n"),
        (["likeness", "1", "--submitted", "none"], "--submitted: none is no folder: name one th"),
        (["lint", "1", "rely"], "01-message-passing has no exercise 'rely' (did you mean relay?)"),
        (["grade", "1", "--watch"], "all that arrives in nbgrader's exchange: leave out 1\n"),
        (["grade", "--demo", "--watch", "--student", "ada"], "leave out --student and --demo\n"),
    ],
)
def test_what_cannot_be_meant_is_said_before_anything_runs(words, said, capsys):
    try:
        status = cli.main(words)
    except SystemExit as stop:
        status = stop.code
    assert status == 2 and said in capsys.readouterr().err
    assert not os.path.exists("/none")


def test_a_word_too_many_is_said_with_the_usage_of_its_command(capsys):
    for words in (["fetch", "1", "here", "there"], ["grade", "--jbs", "3"]):
        with pytest.raises(SystemExit) as stop:
            cli.main(words)
        assert stop.value.code == 2
        said = capsys.readouterr().err
        assert said.startswith(f"usage: distlab {words[0]} [-h]")
        assert f"distlab {words[0]}: error: unrecognized arguments: " in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", "src"], "src is a folder: name a script"),
        (["submit", "src"], "src is a folder: name a batch file"),
        (["run", "nothing.py"], "nothing.py is not there"),
        (["run", "README.md"], "neither a script"),
        (["run", "labs/01-message-passing/message_passing.ipynb"], "--function"),
        (["check", "README.md"], "is no notebook"),
        (["check", "nothing.ipynb"], "is not there: name a notebook, or the folder of a lab"),
        (["explain", "nothere"], "nothere is not there: name the dumps of all ranks, or their fo"),
        (["check", "docs"], "there is no notebook in docs"),
        (["explain", "README.md"], "no Flight Recorder dump: name those of the ranks, and nothing"),
        (["explain", "docs", "README.md"], "docs is a folder: name the dumps of all ranks, or one"),
        (["secret", "new", "--file", "/tmp"], "/tmp is a folder: name a file in it"),
        (["bench", "nothing"], "there is no benchmark"),
    ],
)
def test_bad_input_gets_one_line_that_says_what_to_do(words, said):
    done = distlab(*words)
    assert done.returncode == 1
    assert said in done.stderr and done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "99"], ["lint", "99"], ["looks", "99"], ["policy", "99"], ["likeness", "99"],
        ["reference", "verify", "99"], ["export", "--for", "csv", "--lab", "99"], ["fetch", "99"],
        ["ask", "99", "relay", "x"], ["replay", "ada", "99", "relay"], ["group", "99", "ada"],
        ["new", "exercise", "99", "x"], ["secret", "new", "99"], ["variants", "hand-out", "99"],
    ],
)  # fmt: skip
def test_a_lab_that_is_none_has_the_same_exit_status_everywhere(
    words, capsys, monkeypatch, tmp_path
):
    monkeypatch.setenv("DISTLAB_GRADES", str(tmp_path))
    assert cli.main(words) == 2
    assert "there is no lab '99'; the labs are 01-" in capsys.readouterr().err


def test_grade_outside_of_a_course_says_where_to_go(tmp_path):
    done = distlab("grade", cwd=tmp_path)
    assert done.returncode == 1 and "is no course folder" in done.stderr


def test_check_judges_the_visible_cases_and_writes_the_report(tmp_path):
    from grader import collected

    answer = (collected.ANSWERS / "01-message-passing/exchange/wrong_all_gather.py").read_text()
    folder = coursedir.LABS / "01-message-passing"
    path = tmp_path / "ada" / "01" / "message_passing.ipynb"
    path.parent.mkdir(parents=True)
    content = collected.handed_in("01-message-passing", exchange=answer)
    path.write_text(json.dumps(content))
    for name in ("reference.json", "reference.safetensors"):
        (path.parent / name).write_bytes((folder / name).read_bytes())
    report = tmp_path / "report.json"
    done = distlab("check", path, "--json", report)
    assert done.returncode == 0, done.stderr
    (one,) = json.loads(report.read_text())["submissions"]
    lines = {line["name"]: line for line in one["exercises"]}
    assert one["student"] == "ada" and one["score"] == 0
    assert lines["exchange"]["status"] == "wrong"
    assert "not for a collective" in lines["exchange"]["message"]
    assert lines["relay"]["status"] == "unanswered"


def test_a_terminal_that_has_not_all_characters_gets_every_line(tmp_path):
    done = distlab("check", coursedir.LABS / "01-message-passing", PYTHONIOENCODING="latin-1")
    assert done.returncode == 0 and not done.stderr
    assert "ranks 0 and 1, 2 and 3, \\u2026 swap" in done.stdout and "group_mean" in done.stdout


def test_a_report_holds_names_that_are_not_utf_8(tmp_path):
    path = tmp_path / "report.json"
    write_json(path, {"student": "a\udcffé"})
    assert json.loads(path.read_bytes()) == {"student": "a\udcffé"}
    assert "é" in path.read_text("utf-8")


def test_check_breaks_lines_between_words_in_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    exercise = course.find("exchange")
    wrong = Verdict(exercise, "wrong", "Each rank returns its partner's.", "Rank 0 returned None.")
    one = cli._line(wrong, terminal=False)
    head, *told = cli._line(wrong, terminal=True).splitlines()
    assert head.split() == ["exchange", "0/3", "wrong"] and one.startswith(head)
    assert " ".join(line.strip() for line in told) == wrong.message
    assert max(map(len, told)) <= 40 and {line[:4] for line in told} == {" " * 4}
    assert cli._line(Verdict(exercise, "passed"), terminal=True).split()[-1] == "passed"


def test_check_takes_the_notebook_of_a_folder(tmp_path):
    lab = tmp_path / "01-message-passing"
    shutil.copytree(coursedir.LABS / lab.name, lab)
    done = distlab("check", lab)
    assert done.returncode == 0, done.stderr
    assert "relay" in done.stdout and "unanswered" in done.stdout
    (lab / "copy.ipynb").write_text("{}")
    done = distlab("check", lab)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "there are 2 notebooks" in done.stderr and "copy.ipynb" in done.stderr


def test_more_ranks_than_the_machine_can_carry_are_refused_before_anything_starts(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')")
    for size in (0, 99_999):
        done = distlab("run", path, "--ranks", size)
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        assert f"{size} ranks where a program may use" in done.stderr
        assert "DISTLAB_MAX_RANKS" in done.stderr
    done = distlab("run", path, "--ranks", 2, DISTLAB_MAX_RANKS="1")
    assert done.returncode == 1 and "ask for 1 to 1" in done.stderr
    assert not (tmp_path / "ran").exists()


@pytest.fixture
def old_nbgrader(tmp_path):
    """A folder for PYTHONPATH by which Python takes nbgrader for an old one."""
    about = tmp_path / "path" / "nbgrader-0.9.5.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: nbgrader\nVersion: 0.9.5\n")
    return str(about.parent)


def test_an_nbgrader_with_a_hole_is_named_and_does_not_grade(old_nbgrader, tmp_path):
    assert "not to be used" not in distlab("info").stdout
    said = distlab("info", PYTHONPATH=old_nbgrader).stdout
    assert "not to be used: nbgrader 0.9.5" in said and "nbgrader>=0.9.6" in said
    for words in (["--demo"], ["--watch"]):
        done = distlab("grade", *words, PYTHONPATH=old_nbgrader, DISTLAB_GRADES=str(tmp_path / "g"))
        assert done.returncode == 1 and done.stderr.count("\n") == 1
        assert "install 0.9.6 or later" in done.stderr
    assert not (tmp_path / "g").exists()


SCRIPT = """
import os, sys
import torch, torch.distributed as dist
dist.init_process_group("gloo")
rank = dist.get_rank()
if "--hang" in sys.argv:
    dist.recv(torch.zeros(1), 1 - rank)
if "--fail" in sys.argv and rank == 1:
    raise ValueError("no")
tensor = torch.ones(1)
dist.all_reduce(tensor)
print(rank, os.environ["LOCAL_RANK"], tensor.item(), sys.argv[1:])
dist.destroy_process_group()
"""


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "program.py"
    path.write_text(SCRIPT)
    return path


def test_run_runs_a_script_on_ranks_and_writes_a_trace(script, tmp_path):
    trace = tmp_path / "trace.json"
    done = distlab("run", script, "--ranks", 2, "--trace", trace, "--own", "3")
    assert done.returncode == 0, done.stderr
    assert "[rank 1] 1 1 2.0 ['--own', '3']" in done.stdout
    names = {e["name"] for e in json.loads(trace.read_text())["traceEvents"]}
    assert any("all_reduce" in name for name in names)


@pytest.mark.parametrize(
    ("words", "own", "ranks"),
    [
        (["x.py", "--ranks", "3", "a"], ["a"], 3),
        (["x.py", "--", "--ranks", "3"], ["--ranks", "3"], 2),
        (["./x.py", "--", "--ranks", "3"], ["--ranks", "3"], 2),
        (["--ranks", "4", "x.py", "--", "a", "--", "--ranks", "3"],
         ["a", "--", "--ranks", "3"], 4),
        (["x.py", "a", "--ranks", "4", "--", "--ranks", "3"], ["a", "--ranks", "3"], 4),
        (["x.py", "--ranks", "4", "--", "--"], ["--"], 4),
        (["--", "x.py", "--ranks", "4"], [], 4),
        (["x.py", "--"], [], 2),
        (["x.py", "", "a"], ["", "a"], 2),
    ],
)  # fmt: skip
def test_what_follows_two_dashes_is_the_scripts_own(words, own, ranks, monkeypatch):
    from distlab.engines import launch

    seen = []
    monkeypatch.setattr(launch, "launch", lambda *given, **_: seen.append(given) or 0)
    assert cli.main(["run", *words]) == 0
    assert [(*given[1:],) for given in seen] == [(ranks, own)]


def test_run_explains_a_script_that_hangs(script):
    done = distlab("run", script, "--ranks", 2, "--hang")
    assert done.returncode == 1
    assert "rank 0 waits in recv(src=1) at <module>:7" in done.stderr


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """A script of two ranks, one of which fails."""
    path = tmp_path_factory.mktemp("failed") / "program.py"
    path.write_text(SCRIPT)
    return distlab("run", path, "--ranks", 2, "--fail")


def test_run_reports_a_rank_that_fails(failed):
    assert failed.returncode == 1
    assert "[rank 1] ValueError: no" in failed.stdout


LONG = """
import threading

class Long(Exception):
    def __str__(self):
        threading.Event().wait(1.5)
        return "at last"
"""


def test_a_traceback_that_comes_late_is_waited_for(tmp_path):
    """As on a busy machine: that the other rank waits in vain is proven before."""
    path = tmp_path / "program.py"
    path.write_text(LONG + SCRIPT.replace('ValueError("no")', "Long"))
    done = distlab("run", path, "--ranks", 2, "--fail")
    assert done.returncode == 1 and "rank 0 waits in all_reduce()" in done.stderr
    assert "Long: at last" in done.stdout


def test_run_ends_a_script_when_its_time_is_up(tmp_path):
    path = tmp_path / "program.py"
    path.write_text("while True:\n    pass\n")
    done = distlab("run", path, "--ranks", 1, "--timeout", 1)
    assert done.returncode == 1 and "was ended after 1 s" in done.stderr


def test_an_interrupted_run_leaves_its_trace(tmp_path):
    path, trace = tmp_path / "program.py", tmp_path / "trace.json"
    path.write_text(SCRIPT + "print('there', flush=True)\nwhile True:\n    pass\n")
    words = [sys.executable, "-m", "distlab", "run", path, "--ranks", "1", "--trace", trace]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # under nohup, too
    ) as running:  # fmt: skip
        assert any("there" in line for line in running.stdout)
        running.send_signal(signal.SIGINT)
        try:
            said = running.communicate(timeout=60)[1]
        finally:
            running.kill()
    assert running.returncode == 1 and said == "distlab: interrupted\n"
    names = {e["name"] for e in json.loads(trace.read_text())["traceEvents"]}
    assert any("all_reduce" in name for name in names)


def test_run_calls_a_function_of_a_notebook(tmp_path):
    from grader import collected

    answer = collected.ANSWERS / "01-message-passing/run_blocking"
    source = next(answer.glob("right_*.py")).read_text()
    path = tmp_path / "message_passing.ipynb"
    path.write_text(json.dumps(collected.handed_in("01-message-passing", run_blocking=source)))
    done = distlab("run", path, "--ranks", 2, "--function", "run_blocking")
    assert "[rank 1] run_blocking(1, 2) = tensor([1.])" in done.stdout, done.stderr + done.stdout


def test_check_away_from_its_folder_says_how_to_get_what_is_missing(tmp_path):
    path = tmp_path / "message_passing.ipynb"
    shutil.copy(coursedir.LABS / "01-message-passing" / path.name, path)
    done = distlab("check", path.name, cwd=tmp_path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert f"reference.json of lab 01-message-passing is not in {tmp_path}" in done.stderr
    assert "`distlab fetch 01-message-passing .`" in done.stderr
    assert "reference record" not in done.stderr
    assert distlab("fetch", "01-message-passing", ".", cwd=tmp_path).returncode == 0
    assert distlab("check", path.name, cwd=tmp_path).returncode == 0


def test_what_lies_beside_a_notebook_is_found_from_the_command_line_as_in_the_notebook(tmp_path):
    from grader import collected

    lab = "01-message-passing"
    source = next((collected.ANSWERS / lab / "run_blocking").glob("right_*.py")).read_text()
    (tmp_path / "beside.py").write_text("WHERE = 'beside'\n")
    answer = source.replace("):\n", "):\n    assert beside.WHERE == 'beside'\n", 1)
    content = collected.handed_in(lab, run_blocking=f"import beside\n{answer}")
    path = tmp_path / "message_passing.ipynb"
    assert distlab("fetch", lab, ".", cwd=tmp_path).returncode == 0
    path.write_text(json.dumps(content))
    done = distlab("run", path.name, "--ranks", 2, "--function", "run_blocking", cwd=tmp_path)
    assert "[rank 1] run_blocking(1, 2) = tensor([1.])" in done.stdout, done.stderr + done.stdout
    distlab("check", path.name, "--json", "report.json", cwd=tmp_path)
    (one,) = json.loads((tmp_path / "report.json").read_text())["submissions"]
    lines = {line["name"]: line for line in one["exercises"]}
    assert lines["run_blocking"]["status"] == "passed", lines["run_blocking"]["message"]


NOTEBOOK = {
    "given": "import torch\nimport torch.distributed as dist",
    "exchange": "def exchange(rank, size, tensor):\n    return tensor",
    "summed": "def summed(rank, size):\n"
    "    tensor = torch.ones(1)\n    dist.all_reduce(tensor)\n    return tensor.item()",
    "raises": "def raises(rank, size):\n    dist.barrier()\n    return torch.ones(rank, ()) + x",
    "broken": "def broken(rank, size):\n    x = (1\n    return x",
    "bad": "1 / 0\ndef later(rank, size):\n    return 1",
}


@pytest.fixture
def lab(tmp_path):
    """A notebook of one's own, two cells of which do not work."""
    cells = [
        {"cell_type": "code", "source": source,
         "metadata": {"nbgrader": {"grade_id": name, "solution": True}}}
        for name, source in NOTEBOOK.items()
    ]  # fmt: skip
    path = tmp_path / "lab.ipynb"
    path.write_text(json.dumps({"cells": cells, "nbformat": 4}))
    return path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("sumed", "lab.ipynb defines no sumed: did you mean summed?"),
        (
            "xyz",
            "lab.ipynb defines no xyz: its functions of (rank, size) are summed, raises, later",
        ),
        ("exchange", "exchange takes (rank, size, tensor) and --function calls exchange(rank, siz"),
        ("broken", "Python cannot read the cell of lab.ipynb that defines broken (SyntaxError: "),
    ],
)
def test_a_function_that_cannot_be_called_is_said_once_before_anything_runs(lab, name, said):
    for command in ("run", "submit"):
        done = distlab(command, lab, "--function", name)
        assert done.returncode == 1 and not done.stdout, done.stdout
        assert said in done.stderr and done.stderr.count("\n") == 1


def test_words_that_no_function_takes_are_refused(lab):
    """`--rank` for `--ranks`, say: with two ranks it would run, and nobody would see why."""
    for command in ("run", "submit"):
        done = distlab(command, lab, "--function", "summed", "--rank", "4")
        assert done.returncode == 1 and not done.stdout
        assert "takes no words of the command line: leave out --rank 4\n" in done.stderr


def test_a_function_may_come_from_a_module_of_which_everything_is_imported(lab):
    from distlab.engines import notebook_function

    lab.write_text(lab.read_text().replace("import torch\\n", "from mine import *\\n"))
    notebook_function.need(lab, "relay")


def test_a_function_runs_whatever_is_wrong_in_other_cells(lab):
    done = distlab("run", lab, "--function", "summed")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "[rank 1] summed(1, 2) = 2.0" in done.stdout
    for said in ("the cell 'broken' of lab.ipynb could not be run (SyntaxError: ", "'bad'"):
        assert done.stdout.count(said) == 1


def test_a_function_that_its_cell_does_not_come_to_is_said_once(lab):
    done = distlab("run", lab, "--function", "later")
    assert done.returncode == 1 and "Traceback" not in done.stdout
    said = "the cell 'bad' of lab.ipynb could not be run (ZeroDivisionError: division by zero)"
    assert done.stdout.count(said) == 1


def test_a_traceback_has_none_of_our_own_frames(lab, failed, tmp_path):
    cancelled = tmp_path / "cancelled.py"
    cancelled.write_text("import asyncio\nraise asyncio.CancelledError\n")  # no Exception
    for done in (
        distlab("run", lab, "--function", "raises"), failed,
        distlab("run", cancelled, "--ranks", "2"),
    ):  # fmt: skip
        assert done.returncode == 1 and "[rank 1] Traceback" in done.stdout
        files = [line for line in done.stdout.splitlines() if '  File "' in line]
        assert files and not [line for line in files if "src/distlab" in line or "runpy" in line]


@pytest.mark.parametrize(("words", "begun"), [([], 1), (["--cluster", "c"], 0)])
def test_a_sandbox_is_begun_here_unless_a_cluster_judges(words, begun, monkeypatch):
    from grader import commands
    from grader.sandbox import ahead

    made = []

    class Ahead:
        def __init__(self, wanted):
            made.append(self)
            self.closed = False

        def close(self):
            self.closed = True

    def grade(*arguments):
        assert arguments[-1] is (made[0] if made else None)
        raise Refused("stops here")

    monkeypatch.setattr(ahead, "Ahead", Ahead)
    monkeypatch.setattr(commands, "grade", grade)
    assert cli.main(["grade", "01-message-passing", *words]) == 1
    assert len(made) == begun and all(one.closed for one in made)


def test_a_sandbox_is_begun_for_a_lab_by_its_number_too(tmp_path, monkeypatch):
    from grader import commands
    from grader.judging import due
    from grader.sandbox import ahead

    wanted = []

    class Ahead:
        def __init__(self, modules):
            wanted.append(modules())

        def close(self):
            pass

    (tmp_path / "ada" / "01-message-passing").mkdir(parents=True)
    monkeypatch.setattr(due, "GRADES", tmp_path)  # ada's submission was judged in the course's own
    monkeypatch.setattr(ahead, "Ahead", Ahead)
    monkeypatch.setattr(commands, "grade", lambda *_: [])
    for name in ("01-message-passing", "1"):
        cli.main(["grade", name, "--submitted", str(tmp_path)])
    assert wanted == [(), ()]  # None would be: nothing is to be judged


@pytest.mark.parametrize(
    ("error", "said"),
    [(OSError(errno.EROFS, "Read-only file system", "/srv/x"), "(/srv/x): see that this account"),
     (PermissionError(errno.EACCES, "Permission denied", "/srv/x"), "(/srv/x): see that this"),
     (OSError(errno.ENOSPC, "No space left on device"), "or where the output goes): make room"),
     (PermissionError("a sentence of its own"), "distlab: a sentence of its own\n")],
)  # fmt: skip
def test_what_the_system_refuses_is_told_with_what_to_do(monkeypatch, capsys, error, said):
    def refused(arguments):
        raise error

    monkeypatch.setattr(cli, "info", refused)
    assert cli.main(["info"]) == 1
    assert said in capsys.readouterr().err
