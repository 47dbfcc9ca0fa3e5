"""A class goes the whole way, by our command and by stock nbgrader, with the same scores."""

import concurrent.futures
import contextlib
import csv
import dataclasses
import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from nbgrader.converters import Autograde
from optional import here

from distlab import course
from distlab.checking import submission
from distlab.cli import main
from distlab.processes import untrusted
from grader import collected, commands, coursedir, paths
from grader.coursedir import GradingFailed
from grader.judging import demo, handed_in, referee
from grader.judging import grade as grading
from grader.judging.ledger import Entry, Ledger, Line
from grader.judging.referee import unreadable_lines
from grader.plugins.gradebook import Gradebook
from grader.policy import commands as policy_commands
from grader.policy import roster
from grader.policy.rules import PolicyError
from grader.reports import table
from grader.writing import NotWritten

LAB = "01-message-passing"
NAME = course.notebook_name(LAB)
MAXIMUM = float(sum(e.points for e in course.exercises(LAB).values()))
ANSWERS = collected.ANSWERS / LAB


def run(*words, grades, timeout=300):
    """One of our or nbgrader's commands, with its own gradebook."""
    env = {**os.environ, "DISTLAB_GRADES": str(grades)}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=coursedir.ROOT, env=env, capture_output=True, text=True,
        timeout=timeout,
    )  # fmt: skip


def hand_in(grades: Path, student: str, content, name: str = NAME) -> None:
    collected.hand_in(grades, student, LAB, content, name)


def test_a_folder_for_grades_that_is_not_there_is_made(tmp_path):
    hand_in(tmp_path, "ada", coursedir.released(LAB))
    words = ["distlab", "grade", LAB, "--submitted", str(tmp_path / "submitted")]
    done = run(*words, grades=tmp_path / "new" / "grades")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "new" / "grades" / "gradebook.db").exists()


def test_a_folder_for_grades_that_cannot_be_made_is_told_before_anything_is_judged(tmp_path):
    hand_in(tmp_path, "ada", coursedir.released(LAB))
    (tmp_path / "file").touch()
    words = ["distlab", "grade", LAB, "--submitted", str(tmp_path / "submitted")]
    done = run(*words, grades=tmp_path / "file" / "grades")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "DISTLAB_GRADES" in done.stderr and "ada" not in done.stdout


def _hear_interruptions():
    """A shell has what it starts in the background ignore them, and its children after it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_an_interrupted_grading_ends_at_once_and_keeps_what_was_judged(tmp_path):
    hand_in(tmp_path, "done", coursedir.released(LAB))
    endless = collected.filled(coursedir.released(LAB), relay="while True:\n    pass")
    for number in range(12):  # more than are judged at once, each for most of a minute
        hand_in(tmp_path, f"endless{number}", endless)
    submitted = str(tmp_path / "submitted")
    words = [sys.executable, "-m", "distlab", "grade", LAB, "--submitted", submitted]
    (tmp_path / "temporary").mkdir()
    env = {**os.environ, "DISTLAB_GRADES": str(tmp_path), "TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(
        words, cwd=coursedir.ROOT, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, start_new_session=True, preexec_fn=_hear_interruptions,
    ) as process:  # fmt: skip
        feedback = tmp_path / "feedback" / "done" / LAB / NAME.replace(".ipynb", ".html")
        try:
            while not feedback.exists():
                assert process.poll() is None, process.communicate()[1]
                time.sleep(0.01)
            os.killpg(process.pid, signal.SIGINT)  # as a terminal does
            _, said = process.communicate(timeout=120)
        finally:
            process.kill()
    assert process.returncode == 1
    assert said.startswith("distlab: interrupted: what has been judged is kept")
    assert said.count("\n") == 1
    assert [path.stem for path in (tmp_path / "ledger" / LAB).glob("*.json")] == ["done"]
    assert not os.listdir(tmp_path / "temporary")


def test_an_interruption_that_nbgrader_keeps_to_itself_is_one_all_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(Autograde, "start", interrupted)
    with pytest.raises(KeyboardInterrupt):
        Gradebook(tmp_path).enter(LAB, "ada")


class NoJudges:
    slots, closed = 1, False

    def expect(self, lab):
        pass

    beside = staticmethod(contextlib.nullcontext)

    def lines(self, lab, plan, whose=None, lanes=1):
        return unreadable_lines(lab)

    def close(self):
        self.closed = True


def test_an_interruption_that_is_lost_while_a_submission_is_entered_ends_grading_after_it(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    monkeypatch.setattr(paths, "GRADES", tmp_path)
    for student in ("ada", "ben"):
        hand_in(tmp_path, student, coursedir.released(LAB))
    entered = []

    def losing(book, pages, ledger, one, entry, staged, was):
        entered.append(one.student)
        with contextlib.suppress(KeyboardInterrupt):  # as Python does where it deletes something
            signal.raise_signal(signal.SIGINT)
        raise GradingFailed("nbgrader could not")

    monkeypatch.setattr(grading, "_enter", losing)
    judges, before = NoJudges(), signal.getsignal(signal.SIGINT)
    _hear_interruptions()
    try:
        with pytest.raises(KeyboardInterrupt, match="what has been judged is kept"):
            grading.grade(LAB, tmp_path / "submitted", None, judges)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
    assert len(entered) == 1 and judges.closed


def test_a_submission_that_was_collected_and_graded_meanwhile_stays_in_the_gradebook(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    monkeypatch.setattr(paths, "GRADES", tmp_path)
    entered, submitted = [], tmp_path / "submitted"

    def enter(self, lab, student, need):
        need()
        entered.append(student)
        raise GradingFailed("that will do")

    monkeypatch.setattr(Gradebook, "enter", enter)
    first, second = NoJudges(), NoJudges()

    def overtaken(lab, plan, whose=None, lanes=1):
        hand_in(tmp_path, "ada", collected.filled(coursedir.solution(LAB), relay="relay = 1"))
        grading.grade(LAB, submitted, "ada", second)
        return unreadable_lines(lab)

    first.lines = overtaken
    hand_in(tmp_path, "ada", coursedir.solution(LAB))
    (late,) = grading.grade(LAB, submitted, "ada", first)
    assert entered == ["ada"]
    assert "was replaced by another submission while it was judged" in late.problem


@pytest.mark.parametrize("content", [coursedir.solution(LAB), "{"])
def test_files_that_were_touched_or_written_again_are_no_other_submission(
    tmp_path, monkeypatch, content
):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    monkeypatch.setattr(paths, "GRADES", tmp_path)
    monkeypatch.setattr(roster, "GRADES", tmp_path)
    entered, state = [], grading._state

    def enter(self, lab, student, need):
        need()
        entered.append(student)
        raise GradingFailed("that will do")

    def touched(one):
        found = state(one)
        hand_in(tmp_path, "ada", content)
        os.utime(one.folder / NAME, (0, len(entered)))
        (one.folder / ".ipynb_checkpoints").mkdir(exist_ok=True)  # somebody has looked at it
        return found

    monkeypatch.setattr(Gradebook, "enter", enter)
    monkeypatch.setattr(grading, "_state", touched)
    hand_in(tmp_path, "ada", content)
    (done,) = grading.grade(LAB, tmp_path / "submitted", None, NoJudges())
    assert (entered, done.problem) == (["ada"], "that will do")


def test_what_came_meanwhile_and_breaks_the_grader_costs_nobody_else_the_points(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    monkeypatch.setattr(paths, "GRADES", tmp_path)
    monkeypatch.setattr(roster, "GRADES", tmp_path)
    read, judged = handed_in.notebook, []

    def reading(folder):
        if judged:  # the second time, since another file has come
            raise RecursionError("a mistake of the grader's own")
        judged.append(folder)
        found = read(folder)
        hand_in(tmp_path, "ada", "[" * 100_000)
        return found

    monkeypatch.setattr(Gradebook, "enter", lambda self, lab, student, need: need())
    monkeypatch.setattr(handed_in, "notebook", reading)
    hand_in(tmp_path, "ada", coursedir.solution(LAB))
    (ada,) = grading.grade(LAB, tmp_path / "submitted", "ada", NoJudges())
    assert "was replaced by another submission while it was judged" in ada.problem


def test_a_group_keeps_what_another_member_has_handed_in_since_its_folder_was_chosen(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    monkeypatch.setattr(paths, "GRADES", tmp_path)
    monkeypatch.setattr(roster, "GRADES", tmp_path)
    with roster.RosterFile().changing() as held:
        held[0] = dataclasses.replace(held[0], groups={LAB: (("ada", "ben"),)})
    monkeypatch.setattr(Gradebook, "enter", lambda self, lab, student, need: need())
    state, submitted = grading._state, tmp_path / "submitted"

    def late(one):
        if not (submitted / "ben").exists():
            hand_in(tmp_path, "ben", coursedir.solution(LAB))
            when = submitted / "ben" / LAB / "timestamp.txt"
            when.write_text("2026-11-20 10:00:00 UTC\n")
        return state(one)

    monkeypatch.setattr(grading, "_state", late)
    hand_in(tmp_path, "ada", coursedir.solution(LAB))
    for one in grading.grade(LAB, submitted, None, NoJudges()):
        assert "was replaced by another submission while it was judged" in one.problem


def test_a_verdict_that_another_course_gave_before_is_told_with_its_points(tmp_path, monkeypatch):
    monkeypatch.setattr(coursedir, "GRADES", tmp_path)
    monkeypatch.setattr(paths, "GRADES", tmp_path)
    monkeypatch.setattr(
        grading,
        "_enter",
        lambda book, pages, ledger, one, entry, *_: grading.Graded(entry, None, 0),
    )
    judges = NoJudges()

    def grade():
        some = grading.grade(LAB, tmp_path / "submitted", None, judges)
        return {one.entry.student: (one.before, one.entry.score) for one in some}

    def passed(lab, plan, whose=None, lanes=1):
        (first, *others) = unreadable_lines(lab)
        return [dataclasses.replace(first, status="passed", score=first.max_score), *others]

    hand_in(tmp_path, "ada", coursedir.solution(LAB))
    assert grade() == {"ada": (None, 0)}
    hand_in(tmp_path, "ada", collected.filled(coursedir.solution(LAB), relay="relay = 1"))
    hand_in(tmp_path, "ben", coursedir.solution(LAB))
    judges.lines = passed
    assert grade() == {"ada": (None, 2), "ben": (None, 2)}  # for another answer: nothing to tell
    monkeypatch.setattr(referee, "course_digest", lambda *about: "another course" * 5)
    judges.lines = NoJudges().lines
    assert grade() == {"ada": (2, 0), "ben": (2, 0)}
    assert grade() == {"ada": (None, 0), "ben": (None, 0)}
    path = Ledger(tmp_path / "ledger").path(LAB, "ada")  # as it was before a basis was noted
    content = json.loads(path.read_text())
    del content["basis"]
    path.write_text(json.dumps(content))
    hand_in(tmp_path, "ben", "{")
    monkeypatch.setattr(referee, "course_digest", lambda *about: "the next course" * 5)
    judges.lines = passed
    assert grade() == {"ada": (0, 2), "ben": (None, 0)}
    hand_in(tmp_path, "ben", coursedir.solution(LAB))
    assert grade() == {"ada": (None, 2), "ben": (None, 2)}  # it could not be read: no verdict


def test_whoever_is_in_the_gradebook_alone_is_named(tmp_path, monkeypatch, capsys):
    """A renamed folder is another student, and who has left keeps points."""
    for module in (coursedir, paths):
        monkeypatch.setattr(module, "GRADES", tmp_path)
    monkeypatch.setattr(grading, "SUBMITTED", tmp_path / "submitted")
    monkeypatch.setattr(commands, "make_judges", lambda *_: NoJudges())

    def grade():
        commands.grade([LAB], None, None, 1, False)
        return capsys.readouterr().out

    for student in ("ada", "ben", "chen"):
        hand_in(tmp_path, student, coursedir.solution(LAB))
    assert "In the gradebook" not in grade()
    (tmp_path / "submitted" / "ada").rename(tmp_path / "submitted" / "dora")
    shutil.rmtree(tmp_path / "submitted" / "ben")

    def others_come(*about):  # while the class is graded, and another command enters them
        hand_in(tmp_path, "emil", coursedir.solution(LAB))
        grading.grade(LAB, tmp_path / "submitted", "emil", NoJudges())

    monkeypatch.setattr(table, "show", others_come)
    assert "In the gradebook, and not among these submissions: ada, ben. They keep" in grade()
    assert main(["likeness", LAB]) == 0
    said = capsys.readouterr().out
    assert said.count("it is not among the submissions any more") == 2
    assert "3 submissions compared" in said and "ada ·" not in said


def test_whoever_is_known_and_has_handed_in_nothing_is_named(tmp_path, monkeypatch, capsys):
    for module in (coursedir, paths, policy_commands):
        monkeypatch.setattr(module, "GRADES", tmp_path)
    monkeypatch.setattr(grading, "SUBMITTED", tmp_path / "submitted")
    monkeypatch.setattr(commands, "make_judges", lambda *_: NoJudges())
    hand_in(tmp_path, "ada", coursedir.solution(LAB))
    (report,) = commands.grade([LAB], None, None, 1, False)
    assert "Nothing handed in" not in capsys.readouterr().out and "not_handed_in" not in report
    with Gradebook(tmp_path).database() as database:
        database.add_student("zoe")
    for name in ("ben/02-toy-model", "eve/Lab 1", "Fay_1_assignsubmission_file_/x", ".trash/x"):
        (tmp_path / "submitted" / name).mkdir(parents=True)
    (report,) = commands.grade([LAB], None, None, 1, False)
    assert "Nothing handed in: ben, zoe." in capsys.readouterr().out
    assert report["not_handed_in"] == ["ben", "zoe"]
    page = (tmp_path / "out" / f"{LAB}.html").read_text("utf-8")
    assert "2 students" in page and "nothing handed in: ben, zoe" in page
    commands.grade([LAB], None, ["ada"], 1, False)
    assert "Nothing handed in" not in capsys.readouterr().out


def test_of_several_who_are_named_each_is_graded_or_said_to_be_missing(
    tmp_path, monkeypatch, capsys
):
    for module in (coursedir, paths):
        monkeypatch.setattr(module, "GRADES", tmp_path)
    monkeypatch.setattr(grading, "SUBMITTED", tmp_path / "submitted")
    monkeypatch.setattr(commands, "make_judges", lambda *_: NoJudges())
    for student in ("ada", "ben", "chen"):
        hand_in(tmp_path, student, coursedir.solution(LAB))
    (report,) = commands.grade([LAB], None, ["chen", "ada"], 1, False)
    assert [one["student"] for one in report["submissions"]] == ["ada", "chen"]
    capsys.readouterr()
    with pytest.raises(grading.NothingSubmitted, match="no submission of eve below"):
        commands.grade([LAB], None, ["ada", "eve"], 1, False)
    assert not capsys.readouterr().out  # nobody was graded
    collected.hand_in(tmp_path, "ada", "02-toy-model", coursedir.solution("02-toy-model"))
    collected.hand_in(tmp_path, "chen", "04-ring-allreduce", coursedir.solution(LAB))
    reports = commands.grade([], None, ["ada", "ben"], 1, False)  # the labs that one of them has
    assert [report["assignment"] for report in reports] == [LAB, "02-toy-model"]
    assert [report.get("not_handed_in") for report in reports] == [None, ["ben"]]
    assert "Nothing handed in: ben." in capsys.readouterr().out


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """(folder, report, output) of a small class that distlab grade has graded."""
    grades = tmp_path_factory.mktemp("grades")
    right = demo.handed_in("ada", LAB)
    hanging = (ANSWERS / "exchange" / "wrong_both_send_first.py").read_text()
    hand_in(grades, "right", right)
    hand_in(grades, "renamed", right, name="my copy.ipynb")
    hand_in(grades, "deadlock", collected.filled(right, exchange=hanging))
    hand_in(grades, "crash", collected.filled(right, relay="import os\nos._exit(1)"))
    hand_in(grades, "o'brien", collected.filled(
        right, exchange=collected.source_of(right, "exchange") + "\nimport sys\n"
        "print('x' * 100, file=sys.stderr)\nimport warnings\nwarnings.warn('a warning')",
        relay="from mine import relay", broadcast_from="from package import broadcast_from",
    ))  # fmt: skip
    imports = "import torch\nimport torch.distributed as dist\n"
    beside = grades / "submitted" / "o'brien" / LAB
    (beside / "mine.py").write_text(imports + collected.source_of(right, "relay"))
    (beside / "package").mkdir()
    (beside / "package" / "__init__.py").write_text("from .inner import broadcast_from")
    source = collected.source_of(right, "broadcast_from")
    (beside / "package" / "inner.py").write_text(imports + source)
    hand_in(grades, "untouched", coursedir.released(LAB))
    hand_in(grades, "untouched", right, name="message_passing-Copy1.ipynb")
    hand_in(grades, "unreadable", "{")
    hand_in(grades, "renamed_function", collected.filled(right, relay="def relais(): pass"))
    report = grades / "report.json"
    done = run("distlab", "grade", LAB, "--json", str(report), grades=grades)
    assert done.returncode == 0, done.stderr
    return grades, json.loads(report.read_text()), done.stdout


def by_student(report):
    return {one["student"]: one for one in report["submissions"]}


def status(report, student, exercise):
    lines = by_student(report)[student]["exercises"]
    return next(line["status"] for line in lines if line["name"] == exercise)


def points(name):
    return course.exercises(LAB)[name].points


@pytest.mark.parametrize(
    ("student", "exercise", "expected"),
    [
        ("right", None, "passed"),
        ("renamed", None, "passed"),
        ("o'brien", None, "passed"),
        ("deadlock", "exchange", "deadlock"),
        ("crash", "relay", "crashed"),
        ("renamed_function", "relay", "unanswered"),
    ],
)
def test_each_student_loses_just_what_is_wrong(graded, student, exercise, expected):
    _, report, _ = graded
    one = by_student(report)[student]
    assert one["score"] == MAXIMUM - (points(exercise) if exercise else 0)
    assert one["max_score"] == MAXIMUM
    assert status(report, student, exercise or "exchange") == expected


def test_the_untouched_notebook_scores_zero(graded):
    one = by_student(graded[1])["untouched"]
    assert one["score"] == 0
    assert {line["status"] for line in one["exercises"]} == {"unanswered"}
    (said,) = one["repaired"]
    assert "message_passing-Copy1.ipynb" in said and said in graded[2]


def test_a_folder_that_has_no_students_name_gets_no_zero(tmp_path):
    hand_in(tmp_path, "O'Brien, Conor", coursedir.released(LAB))
    (tmp_path / "submitted" / "Bo_12_assignsubmission_file_").mkdir()
    report = tmp_path / "report.json"
    done = run("distlab", "grade", LAB, "--json", str(report), grades=tmp_path)
    (one,) = json.loads(report.read_text())["submissions"]
    assert (one["status"], one["score"]) == ("not graded", None)
    assert done.returncode == 1 and "rename it to letters, digits" in done.stdout
    assert "passed over, being no STUDENT/ASSIGNMENT/NOTEBOOK.ipynb: Bo_12_assign" in done.stdout
    with (tmp_path / "out" / f"{LAB}.csv").open() as file:
        assert [row["score"] for row in csv.DictReader(file)] == [""]


def test_a_folder_named_as_macos_writes_accents_is_told_so(tmp_path):
    for name, said in (("Mu\N{COMBINING DIAERESIS}ller", "rename it to 'Müller'"),
                       ("Mu\N{COMBINING DIAERESIS}ller?", "letters, digits")):  # fmt: skip
        one = grading.Submission(name, LAB, tmp_path / name / LAB)
        entry = grading._judge(None, one, tmp_path, None)
        assert said in entry.not_graded, entry


@pytest.mark.parametrize(
    ("number", "then"),
    [(errno.EACCES, "the right to read it"), (errno.EIO, "when it can be read"),
     (errno.EMFILE, "when it can be read"), (errno.ESTALE, "when it can be read")],
)  # fmt: skip
@pytest.mark.parametrize("name", [NAME, "another.ipynb"])
def test_what_the_grader_may_not_read_or_cannot_now_is_no_zero(
    tmp_path, monkeypatch, number, then, name
):
    hand_in(tmp_path, "ada", coursedir.solution(LAB), name)
    (one,) = grading.submissions(LAB, tmp_path / "submitted")
    plain_file = untrusted.plain_file

    def refuse(path, *args, **kwargs):
        if str(path).endswith(".ipynb"):
            raise OSError(number, os.strerror(number))
        return plain_file(path, *args, **kwargs)

    monkeypatch.setattr(untrusted, "plain_file", refuse)
    entry = grading._judge(None, one, tmp_path / "staged", None)
    assert f"{name} cannot be read here" in entry.not_graded and then in entry.not_graded


def test_a_policy_that_is_being_changed_is_no_mistake_of_the_graders(tmp_path, monkeypatch):
    def unreadable(*about):
        raise PolicyError("policy.yaml, line 2: this is not YAML")

    monkeypatch.setattr(grading, "_judged", unreadable)
    one = grading.Submission("ada", LAB, tmp_path / "ada" / LAB)
    with pytest.raises(PolicyError, match="line 2"):
        grading._judge(None, one, tmp_path, None)


def test_a_full_disk_for_temporary_files_ends_grading_and_is_no_mistake_of_the_graders(
    tmp_path, monkeypatch
):
    def full(*about):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(grading, "_judged", full)
    one = grading.Submission("ada", LAB, tmp_path / "ada" / LAB)
    with pytest.raises(NotWritten, match=f"^{tmp_path} cannot be written .*: make room there"):
        grading._judge(None, one, tmp_path, None)


def test_what_is_removed_or_written_meanwhile_is_no_zero(tmp_path, monkeypatch):
    hand_in(tmp_path, "ada", coursedir.solution(LAB))
    hand_in(tmp_path, "ben", coursedir.solution(LAB))
    ada, ben = grading.submissions(LAB, tmp_path / "submitted")
    shutil.rmtree(ada.folder)
    entry = grading._judge(None, ada, tmp_path / "staged", None)
    assert "removed or replaced" in entry.not_graded
    scan = submission.notebook_file.without_outputs

    def cut_short(file, left):  # whoever copies it has written the half of it so far
        data = scan(file, left)
        with (ben.folder / NAME).open("ab") as more:
            more.write(b"  ")
        return data[: len(data) // 2]

    def within_a_letter(file, left):
        cut_short(file, left)
        raise UnicodeDecodeError("utf-8", b"\xc3", 0, 1, "unexpected end of data")

    for reads in (cut_short, within_a_letter):
        monkeypatch.setattr(submission.notebook_file, "without_outputs", reads)
        entry = grading._judge(None, ben, tmp_path / "staged", None)
        assert "was written while it was read" in entry.not_graded


def test_a_file_that_cannot_be_read_costs_its_own_points_alone(graded):
    one = by_student(graded[1])["unreadable"]
    assert one["status"] == "unreadable" and "exercises" not in one
    assert one["score"] == 0 and one["max_score"] == MAXIMUM
    assert "\n" not in one["message"] and NAME in one["message"]


def test_free_text_is_apart_and_waits_for_a_person(graded):
    one = by_student(graded[1])["right"]
    assert one["manual_max_score"] > 0 and one["manual_score"] is None


def test_the_message_names_ranks_operations_and_lines(graded):
    lines = by_student(graded[1])["deadlock"]["exercises"]
    message = next(line["message"] for line in lines if line["name"] == "exchange")
    assert "rank 0 waits in send(dst=1) at exchange:" in message


def test_the_table_and_the_csv_have_every_student_and_exercise(graded):
    grades, _, printed = graded
    with (grades / "out" / f"{LAB}.csv").open() as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert len(rows) == 8 and rows["deadlock"]["exchange status"] == "deadlock"
    assert float(rows["right"]["score"]) == MAXIMUM
    for name in (*rows, *course.exercises(LAB)):
        assert name[:8] in printed


def test_feedback_shows_the_verdict_and_no_hidden_value(graded):
    page = graded[0] / "feedback" / "deadlock" / LAB / NAME.replace(".ipynb", ".html")
    text = page.read_text("utf-8")
    assert "rank 0 waits in send(dst=1)" in text
    numbers = [
        str(number)[:6]
        for case in coursedir.hidden(LAB)["exchange"]
        for values in course.exercises(LAB)["exchange"].inputs(case)
        for number in values["tensor"].ravel()[:50].tolist() if isinstance(number, float)
    ]  # fmt: skip
    assert len(numbers) > 5 and not [number for number in numbers if number in text]


def scores(grades) -> dict[str, float]:
    """Students' automatic points as nbgrader's own export gives them."""
    out = grades / "export.csv"
    done = run("nbgrader", "export", f"--to={out}", grades=grades)
    assert done.returncode == 0, done.stderr
    with out.open() as file:
        return {row["student_id"]: float(row["raw_score"]) for row in csv.DictReader(file)}


def test_nbgraders_own_export_has_the_same_scores(graded):
    grades, report, _ = graded
    assert scores(grades) == {name: one["score"] for name, one in by_student(report).items()}


@pytest.mark.slow  # stock nbgrader judges the class once more
def test_stock_autograde_gives_the_same_scores(graded, tmp_path):
    grades, report, _ = graded
    shutil.copytree(grades / "submitted", tmp_path / "submitted")
    for student in ("unreadable", "renamed"):  # stock nbgrader skips what has no readable notebook
        shutil.rmtree(tmp_path / "submitted" / student)
    made = run(
        "nbgrader", "generate_assignment", LAB, "--force",
        f"--CourseDirectory.release_directory={tmp_path / 'release'}", grades=tmp_path,
    )  # fmt: skip
    assert made.returncode == 0, made.stderr
    done = run("nbgrader", "autograde", LAB, grades=tmp_path)
    assert done.returncode == 0, done.stderr
    fed = run("nbgrader", "generate_feedback", LAB, grades=tmp_path)
    assert fed.returncode == 0, fed.stderr
    ours = by_student(report)
    assert scores(tmp_path) == {
        name: ours[name]["score"] for name in ours if name not in ("unreadable", "renamed")
    }


def check_by_both_commands(chosen, tmp_path):
    """Right answers get full points and untouched labs zero, by `distlab grade` and by stock
    autograde, each in a class of its own.
    """

    def differences(lab, ours):
        """What is not as it should be in one lab by one of the commands."""
        grades = tmp_path / lab / ("ours" if ours else "stock")
        for student in ("ada", "ben", "fay"):
            collected.hand_in(grades, student, lab, demo.handed_in(student, lab))
        release = f"--CourseDirectory.release_directory={grades / 'release'}"
        made = run("nbgrader", "generate_assignment", lab, "--force", release, grades=grades)
        done = run(*(["distlab", "grade"] if ours else ["nbgrader", "autograde"]), lab,
                   grades=grades)  # fmt: skip
        if made.returncode or done.returncode:
            return f"{lab}: {made.stderr[-500:]} {done.stderr[-1000:]}"
        full = float(sum(e.points for e in course.exercises(lab).values()))
        got = scores(grades)
        return "" if got == {"ada": full, "ben": full, "fay": 0.0} else f"{lab} of {full}: {got}"

    jobs = [(lab, ours) for lab in chosen for ours in (False, True)]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:  # half of the time of one is waiting
        found = [said for said in pool.map(lambda job: differences(*job), jobs) if said]
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.slow  # stock nbgrader takes one submission after another
def test_all_labs_by_both_commands(tmp_path):
    check_by_both_commands([lab for lab in course.LABS if not course.needs(lab)], tmp_path)


@pytest.mark.parametrize("lab", [here(lab) for lab in course.LABS if course.needs(lab)])
def test_a_lab_with_another_framework_by_both_commands(lab, tmp_path):
    check_by_both_commands([lab], tmp_path)


def test_a_second_run_judges_nothing_again(graded):
    grades, report, _ = graded
    before = {p: p.stat().st_mtime_ns for p in (grades / "ledger").rglob("*.json")}
    again = grades / "again.json"
    assert run("distlab", "grade", LAB, "--json", str(again), grades=grades).returncode == 0
    after = {p: p.stat().st_mtime_ns for p in before if "unreadable" not in p.name}
    assert all(before[p] == after[p] for p in after)
    assert json.loads(again.read_text()) == report


def test_damaged_second_looks_keep_no_class_from_its_report(tmp_path):
    hand_in(tmp_path, "ada", coursedir.released(LAB))
    assert run("distlab", "grade", LAB, grades=tmp_path).returncode == 0
    diary, out = tmp_path / "looks.jsonl", tmp_path / "out"
    diary.write_text("half a line\n")
    shutil.rmtree(out)
    hand_in(tmp_path, "ben", coursedir.released(LAB))  # whom points by hand may be due to
    done = run("distlab", "grade", LAB, grades=tmp_path)
    said = "looks.jsonl, line 1, is damaged (JSONDecodeError): restore the file from a copy"
    told = " ".join(done.stdout.split())  # a long sentence goes on in the next line
    assert done.returncode == 1 and not done.stderr and told.count(said) == 2
    assert "ben has to be graded again: nbgrader could not autograde ben's" in told
    assert said in (out / f"{LAB}.html").read_text().replace("<wbr>", "")
    with (out / f"{LAB}.csv").open() as file:
        assert {row["student"] for row in csv.DictReader(file)} == {"ada", "ben"}
    diary.unlink()
    assert run("distlab", "grade", LAB, grades=tmp_path).returncode == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([LAB], "there is no submission"),
        ([], "there are no submissions"),
    ],
)
def test_what_cannot_be_graded_is_said_in_one_line(tmp_path, words, said):
    done = run("distlab", "grade", *words, grades=tmp_path)
    assert done.returncode == 1
    assert said in done.stderr and done.stderr.count("\n") == 1


def test_a_page_that_could_not_be_written_is_told_and_is_no_success(tmp_path, monkeypatch):
    entry = Entry("ada", LAB, "digest", [Line("relay", "passed", 3.0, 3.0)])
    said = "nbgrader could not write feedback on ada's 01-message-passing: OSError: it was busy"
    report = grading.report(LAB, [grading.Graded(entry, None, 0.0, problem=said)])
    monkeypatch.setattr("distlab.cli.instructors._ahead", lambda _: contextlib.nullcontext())
    monkeypatch.setattr("grader.commands.grade", lambda *_: [report])
    assert main(["grade", LAB, "--json", str(tmp_path / "report.json")]) == 1
    (one,) = json.loads((tmp_path / "report.json").read_text())["submissions"]
    assert (one["score"], one["problem"]) == (3.0, said)


def test_a_lab_that_is_none_is_a_mistake_of_the_command(tmp_path):
    done = run("distlab", "grade", "99-nothing", grades=tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "there is no lab '99-nothing'" in done.stderr
