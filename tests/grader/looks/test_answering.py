"""Answers in nbgrader's gradebook: nothing given by hand is lost, and nothing is given twice."""

import contextlib
import datetime
import os
import pwd
import types
from pathlib import Path

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_notebook
from nbgrader.api import Gradebook as Database

from distlab.checking.second_look import Mistaken
from distlab.course import notebook_name
from grader.judging.ledger import Entry, Ledger, Line
from grader.looks import answering, commands, diary, told
from grader.looks.answering import Answering, Wanted, checked
from grader.looks.diary import Diary, about
from grader.plugins import gradebook, preprocessors, rows
from grader.plugins.gradebook import Gradebook
from grader.policy import pages
from grader.reports import mistakes

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")  # nbgrader's own
LAB, EXERCISE = "01-message-passing", "relay"
NOTEBOOK = notebook_name(LAB).removesuffix(".ipynb")
STUDENTS = ("ada", "ben", "cleo")  # ada and ben have made the same mistake, cleo has made none
SOURCES = ("def relay(): ...", "def relay(): return 1")


class Book:
    """What `Answering` asks of the gradebook."""

    def __init__(self, folder):
        self.folder, self.number = folder, 0

    @property
    def path(self):
        """The gradebook's file: each has its own, because SQLAlchemy keeps connections open."""
        return self.folder / f"gradebook-{self.number}.db"

    @property
    def url(self):
        return f"sqlite:///{self.path}"

    @contextlib.contextmanager
    def database(self):
        with Database(self.url) as database:
            yield database

    def autograded(self, lab, student):
        return self.folder / "autograded" / student / lab

    def fill(self):
        """Begin a gradebook with nobody in it."""
        self.number += 1
        with self.database() as database:
            database.add_assignment(LAB)
            database.add_notebook(NOTEBOOK, LAB)
            database.add_grade_cell(
                f"test_{EXERCISE}", NOTEBOOK, LAB, max_score=3, cell_type="code"
            )
            database.add_solution_cell(EXERCISE, NOTEBOOK, LAB)

    def autograde(self, student, source=SOURCES[0], line=None):
        """As nbgrader's command does it, from the rebuilt notebook on."""
        line = line or verdict(student)
        with self.database() as database:
            database.update_or_create_student(student)
            database.update_or_create_submission(LAB, student)
        about_cell = {"schema_version": 3, "solution": False, "locked": False, "task": False}
        test = {**about_cell, "grade": True, "points": 3, "grade_id": f"test_{EXERCISE}"}
        answer = {**about_cell, "grade": False, "solution": True, "grade_id": EXERCISE}
        nb = new_notebook(
            cells=[
                new_code_cell(source, metadata={"nbgrader": {**answer, "cell_type": "code"}}),
                new_code_cell(
                    "check()", metadata={"nbgrader": {**test, "cell_type": "code"}},
                    outputs=preprocessors.outputs(line),
                ),
            ]
        )  # fmt: skip
        folder = self.autograded(LAB, student)
        folder.mkdir(parents=True, exist_ok=True)
        nbformat.write(nb, folder / notebook_name(LAB))
        about_it = {
            "notebook": NOTEBOOK, "assignment": LAB, "student": student, "db_url": self.url
        }  # fmt: skip
        preprocessors.SaveAutoGrades().preprocess(nb, {"nbgrader": about_it})

    def held(self, student):
        """(points by hand, comment, all points, waits for a person)."""
        with self.database() as database:
            grade, comment = answering._rows(database, student, LAB, EXERCISE)
            waits = bool(grade.needs_manual_grade)
            return grade.manual_score, comment.manual_comment, grade.score, waits

    def state(self, student):
        with self.database() as database:
            return rows.state(database, LAB, student)

    def change(self, student, points, comment, extra=None):
        """As a person does it in the formgrader."""
        with self.database() as database:
            grade, said = answering._rows(database, student, LAB, EXERCISE)
            grade.manual_score, said.manual_comment = points, comment
            grade.extra_credit = extra
            grade.needs_manual_grade = False
            database.db.commit()


def verdict(student):
    if student == "cleo":
        return Line(EXERCISE, "passed", 3.0, 3.0)
    return Line(EXERCISE, "wrong", 0.0, 3.0, "rank 1 returned 4.", happened="rank 1 returned 4.")


@pytest.fixture
def book(tmp_path, monkeypatch):
    for module in (diary, told):
        monkeypatch.setattr(module, "GRADES", tmp_path)
    made = Book(tmp_path)
    begin(made)
    return made


def begin(book):
    """The class as it was graded first."""
    (book.folder / "looks.jsonl").unlink(missing_ok=True)
    book.fill()
    ledger = Ledger(book.folder / "ledger")
    for student in STUDENTS:
        book.autograde(student)
        ledger.put(Entry(student, LAB, "d", [verdict(student)]))


def answers(book):
    return Answering(book, Ledger(book.folder / "ledger"), Diary())


def say(book, student, **wanted):
    answers(book).answer(student, LAB, EXERCISE, Wanted(**wanted))


def ask(student, said="Look."):
    with Diary().adding() as adding:
        look = adding.state.look(student, LAB, EXERCISE)
        adding.add(about(look, "asked", said=said, request=f"1/{said}{len(look.asked)}"))


def test_points_and_comments_are_given_one_without_the_other_and_taken_back(book):
    say(book, "ada", points=2.0)
    assert book.held("ada") == (2.0, None, 2.0, False)
    say(book, "ada", comment="Good.")
    assert book.held("ada") == (2.0, "Good.", 2.0, False)
    say(book, "ada", taken_back=True)
    assert book.held("ada") == (None, "Good.", 0.0, False)


def test_extra_credit_comes_on_top_of_what_is_answered_and_stays(book):
    book.change("ada", None, None, extra=0.5)
    say(book, "ada", points=2.0)
    assert book.held("ada")[::2] == (2.0, 2.5)
    say(book, "ada", taken_back=True)
    assert book.held("ada")[::2] == (None, 0.5)
    assert Gradebook.scores(book.state("ada"))[f"test_{EXERCISE}"] == (0.5, 3.0)


def test_points_from_the_formgrader_are_outdated_once_the_student_hands_in_again(book):
    book.change("ada", 2.0, None)
    assert Gradebook.outdated(book.state("ada")) == []
    book.autograde("ada", SOURCES[1])
    assert Gradebook.outdated(book.state("ada")) == [EXERCISE]
    assert Gradebook.outdated(book.state("ben")) == []
    assert Gradebook.by_hand(book.state("ada")) == [EXERCISE]
    assert Gradebook.by_hand(book.state("ben")) == []


def test_points_for_this_code_wait_for_nobody_and_for_other_code_they_do(book):
    say(book, "ada", points=2.0)
    book.autograde("ada")
    assert book.held("ada")[2:] == (2.0, False)
    assert told.of_earlier_code(Diary().read(), LAB) == []
    book.autograde("ada", SOURCES[1])
    assert book.held("ada")[2:] == (2.0, True)
    assert told.of_earlier_code(Diary().read(), LAB) == [("ada", EXERCISE)]


def test_points_that_were_taken_back_are_of_no_code_whatever_was_said_since(book):
    say(book, "ada", points=2.0)
    say(book, "ada", taken_back=True)
    say(book, "ada", comment="Read it again.")
    book.autograde("ada", SOURCES[1])
    assert book.held("ada")[0] is None and told.of_earlier_code(Diary().read(), LAB) == []


def test_a_gradebook_that_is_made_anew_has_them_back_for_this_code_alone(book):
    say(book, "ada", points=2.0, comment="Good.")
    say(book, "ben", points=1.0)
    book.fill()
    book.autograde("ada")
    book.autograde("ben", SOURCES[1])
    assert book.held("ada")[:3] == (2.0, "Good.", 2.0)
    assert book.held("ben")[:3] == (None, None, 0.0)


def test_what_was_cleared_in_the_formgrader_stays_cleared(book):
    say(book, "ada", points=2.0, comment="Good.")
    book.change("ada", None, None)
    book.autograde("ada")
    assert book.held("ada")[:2] == (None, None)


def test_an_answer_that_a_crash_has_kept_from_the_gradebook_is_entered_later(book, monkeypatch):
    crash(book, monkeypatch, "ada", points=2.0)
    crash(book, monkeypatch, "ben", points=2.0)
    book.change("ben", 1.5, "Mine.")  # in the formgrader, meanwhile
    answers(book).enter_all()
    answers(book).enter_all()
    assert book.held("ada")[0] == 2.0 and book.held("ben")[:2] == (1.5, "Mine.")


def crash(book, monkeypatch, student, **wanted):
    """An answer whose process is killed before it is in the gradebook."""
    with monkeypatch.context() as patched:
        patched.setattr(answering, "_enter", killed)
        with pytest.raises(KeyboardInterrupt):
            say(book, student, **wanted)


def killed(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        (Wanted(), "answer with --points"),
        (Wanted(points=3.01), "the exercise has 0 to 3"),
        (Wanted(points=-0.5), "the exercise has 0 to 3"),
        (Wanted(points=float("nan")), "the exercise has 0 to 3"),
        (Wanted(points=float("inf")), "the exercise has 0 to 3"),
        (Wanted(points=1.001), "at most two decimals"),
        (Wanted(comment="x" * 5000), "at most 4000 characters"),
    ],
)
def test_what_cannot_be_given_is_said(wanted, said):
    with pytest.raises(Mistaken, match=said):
        checked(wanted, 3.0)


def test_who_is_not_in_the_gradebook_cannot_be_answered(book):
    with pytest.raises(Mistaken, match="nothing of zoe's"):
        say(book, "zoe", points=1.0)
    assert Diary().read().events == 0


def test_whose_account_has_no_name_can_answer_too(book, monkeypatch):
    def unknown(number):
        raise KeyError(f"uid not found: {number}")

    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)
    say(book, "ada", points=2.0)
    ((answer,),) = [look.answers for look in Diary().read().looks.values()]
    assert answer.by == f"user {os.getuid()}" and book.held("ada")[0] == 2.0


def test_all_alike_are_those_with_the_same_mistake_who_have_nothing_by_hand(book):
    ask("ben")
    alike = answers(book).answer_alike
    wanted = Wanted(points=1.0, comment="For the idea.")
    assert alike("ada", LAB, EXERCISE, wanted) == (["ada", "ben"], [])
    assert not Diary().read().open() and book.held("cleo")[:2] == (None, None)
    assert alike("ada", LAB, EXERCISE, Wanted(points=2.0)) == (["ada", "ben"], [])
    assert book.held("ben")[:2] == (2.0, "For the idea.")
    book.change("ben", 2.5, "Mine.")
    assert alike("ada", LAB, EXERCISE, Wanted(points=1.0)) == (["ada"], ["ben"])
    assert book.held("ben")[:2] == (2.5, "Mine.")


def test_nobody_is_answered_where_the_one_who_is_named_is_not_in_the_gradebook(book):
    book.fill()
    book.autograde("ben")  # ada was judged, and never entered
    with pytest.raises(Mistaken, match="nothing of ada's"):
        answers(book).answer_alike("ada", LAB, EXERCISE, Wanted(points=1.0))
    assert book.held("ben")[0] is None
    assert answers(book).answer_alike("ben", LAB, EXERCISE, Wanted(1.0)) == (["ben"], [])


POINTS = st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0])
SAID = st.sampled_from(["", "Good.", "No."])
STEP = st.one_of(
    st.tuples(st.just("ask"), st.sampled_from(STUDENTS)),
    st.tuples(st.just("answer"), st.sampled_from(STUDENTS), POINTS, SAID),
    st.tuples(st.just("comment"), st.sampled_from(STUDENTS), st.just("Read.")),
    st.tuples(st.just("back"), st.sampled_from(STUDENTS)),
    st.tuples(st.just("alike"), st.sampled_from(STUDENTS[:2]), POINTS),
    st.tuples(st.just("formgrader"), st.sampled_from(STUDENTS), POINTS),
    st.tuples(st.just("crash"), st.sampled_from(STUDENTS), POINTS),
    st.tuples(st.just("grade"), st.sampled_from(STUDENTS), st.sampled_from(SOURCES)),
    st.tuples(st.just("enter")),
)


@pytest.mark.slow  # a gradebook each time
@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=st.lists(STEP, min_size=1, max_size=10))
def test_no_order_of_these_loses_what_was_given_by_hand_or_gives_it_twice(book, monkeypatch, steps):
    begin(book)
    by_hand = dict.fromkeys(STUDENTS)  # what was given last
    alike = set()  # those whose points came of an answer to another's same mistake
    for step, *of in steps:
        if step == "ask":
            ask(of[0])
        elif step == "answer":
            say(book, of[0], points=of[1], comment=of[2])
            by_hand[of[0]] = of[1]
            alike.discard(of[0])
        elif step == "comment":
            say(book, of[0], comment=of[1])
            alike.discard(of[0])
        elif step == "back":
            say(book, of[0], taken_back=True)
            by_hand[of[0]] = None
            alike.discard(of[0])
        elif step == "formgrader":
            book.change(of[0], of[1], "Mine.")
            by_hand[of[0]] = of[1]
            alike.discard(of[0])
        elif step == "crash":
            crash(book, monkeypatch, of[0], points=of[1])
            answers(book).enter_all()
            by_hand[of[0]] = of[1]
            alike.discard(of[0])
        elif step == "alike":
            other = next(name for name in STUDENTS[:2] if name != of[0])
            free = other in alike or book.held(other)[:2] == (None, None)
            done, kept = answers(book).answer_alike(of[0], LAB, EXERCISE, Wanted(of[1]))
            assert (done, kept) == ([of[0], other], []) if free else ([of[0]], [other])
            by_hand[of[0]] = of[1]
            alike.discard(of[0])
            if free:
                by_hand[other] = of[1]
                alike.add(other)
        elif step == "grade":
            book.autograde(of[0], of[1])
        else:
            answers(book).enter_all()
        for name in STUDENTS:
            points, judged = by_hand[name], verdict(name).score
            held = book.held(name)
            assert held[0] == points and held[2] == (judged if points is None else points)
    content = book.path.read_bytes(), Diary().read()
    answers(book).enter_all()
    assert (book.path.read_bytes(), Diary().read()) == content


def test_each_message_of_a_class_is_compared_once_however_many_ask(monkeypatch):
    state, asked = diary.State(), datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc)
    said = {"ada": "rank 1 returned 4.", "ben": "rank 0 returned 2.", "cleo": "nothing came back"}
    wrong = {name: Line(EXERCISE, "wrong", 0.0, 3.0, happened=one) for name, one in said.items()}
    lines = {**wrong, "dora": Line(EXERCISE, "passed", 3.0, 3.0)}
    for name in lines:
        look = state.look(name, LAB, EXERCISE)
        look.asked.append(diary.Asked("Look.", asked))
        look.is_open = True
    masked, real = [], mistakes.masked
    monkeypatch.setattr(mistakes, "masked", lambda one: masked.append(one) or real(one))
    entries = [Entry(name, LAB, "d", [line]) for name, line in lines.items()]
    found = {one.look.student: one.alike for one in told.waiting(state, LAB, entries)}
    assert found == {"ada": ["ben"], "ben": ["ada"], "cleo": [], "dora": []}
    assert len(masked) <= 2 * len(lines)


def test_requests_are_open_until_they_are_answered(book):
    ask("ada")
    ask("ada", "Look again.")
    (one,) = Diary().read().open(LAB)
    assert one.asked[-1].said == "Look again." and one.key == ("ada", LAB, EXERCISE)
    days = [told.day(datetime.datetime.now(datetime.timezone.utc))]
    say(book, "ada", comment="It is wrong.")
    days.append(told.day(datetime.datetime.now(datetime.timezone.utc)))  # it may be midnight
    assert not Diary().read().open()
    said = told.on_page(Diary().read(), "ada", LAB)[EXERCISE]
    assert said[-1] in {f"Looked at again on {day}: the points stay as they are." for day in days}
    ask("ada", "And now?")
    assert told.on_page(Diary().read(), "ada", LAB)[EXERCISE][-1] == "Nobody has answered yet."


def test_the_command_says_of_which_labs_nobody_waits(book, monkeypatch, capsys):
    class Exchanging(Gradebook):
        def __init__(self, submitted):
            pass

        def feedback(self, lab, student):
            return book.folder / "feedback" / student / lab

    monkeypatch.setattr(commands, "Gradebook", Exchanging)
    monkeypatch.setattr(commands, "GRADES", book.folder)
    monkeypatch.setattr(commands, "collect", lambda book: [])
    with Diary().adding() as adding:
        adding.add({"what": "kept", "name": "idea", "comment": "For the idea."})
    commands.looks([])
    nobody = "Nobody waits for a second look"
    assert capsys.readouterr().out == f"{nobody}.\n@idea: For the idea.\n"
    ask("ada")
    commands.looks(["02"])
    assert capsys.readouterr().out == f"{nobody} in 02-toy-model.\n@idea: For the idea.\n"
    commands.looks([])
    said = capsys.readouterr().out
    assert f"{LAB} ada {EXERCISE}" in said and nobody not in said


def test_after_an_answer_no_page_of_before_is_released(tmp_path, monkeypatch, capsys):
    """The lab's own could not be written; that another lab's could not keeps nobody waiting."""
    released = []

    class Pages:
        stale = {(LAB, "ada"), ("02-toy-model", "ben")}
        policy = types.SimpleNamespace(in_force=True)

        def __init__(self, book, ledger):
            pass

        def refresh(self, student):
            return 0, [f"{student}'s could not be written"]

    exchanging = types.SimpleNamespace(release_feedback=lambda *one: released.append(one))
    monkeypatch.setattr(pages, "Pages", Pages)
    monkeypatch.setattr(commands.handed_in, "secret", lambda folder: "ab" * 64)
    said = commands._refresh(exchanging, LAB, ["ada", "ben"], {"ada", "ben"})
    assert said == ["ada's could not be written", "ben's could not be written"]
    assert released == [(LAB, "ben")] and "ada" not in capsys.readouterr().out


class Entering(Gradebook):
    """What enters submissions, where `book` is nbgrader."""

    def __init__(self, book, source):
        self._book, self._source, self._api = book, source, self
        self._submitted = Path("no time is known")
        self.database, self.autograded = book.database, book.autograded

    def autograde(self, assignment, student):
        self._book.autograde(student, self._source)
        return {"success": True}

    def _write_feedback(self, assignment, student):
        pass


def test_points_by_hand_are_outdated_once_the_code_is_another_and_not_when_it_is_graded_again(
    book, tmp_path, monkeypatch
):
    monkeypatch.setattr(gradebook, "alone", contextlib.nullcontext)
    book.fill()
    for source, outdated in [(0, []), (0, []), (1, [EXERCISE]), (1, [EXERCISE]), (0, [EXERCISE])]:
        Entering(book, SOURCES[source]).enter(LAB, "ada")
        assert Gradebook.outdated(book.state("ada")) == outdated
        if not outdated:
            book.change("ada", 2.0, "by hand")


def test_who_answers_about_free_text_is_sent_to_the_formgrader():
    with pytest.raises(Mistaken, match="is free text: .* in the formgrader"):
        commands.answer("ada", "01-message-passing", "speaking_first", "1", "", "", False)
