"""Who needs a look, and why."""

import classes
import pytest
from classes import graded, wrong

from distlab.exercises.judge import NOT_READABLE
from grader.reports import flagged

UNTOUCHED = {name: {"status": "unanswered", "seconds": 0.0} for name in classes.NAMES}


def reasons(tmp_path, **about):
    """What is said of one submission beside a class that has done everything right."""
    rest = [graded(tmp_path, f"s{i}", manual=4.0) for i in range(5)]
    found = flagged.looks([*rest, graded(tmp_path, "odd", manual=4.0, **about)])
    assert all(look.student == "odd" for look in found)
    return [(r.status, r.exercise, r.said) for look in found for r in look.reasons]


def test_nobody_needs_a_look_who_did_everything_right(tmp_path):
    assert reasons(tmp_path) == []


def test_a_plain_wrong_answer_and_a_deadlock_need_none(tmp_path):
    assert reasons(tmp_path, relay=wrong(), exchange=wrong(status="deadlock")) == []


@pytest.mark.parametrize("status", ["crashed", "timeout", "tampered"])
def test_what_ended_in_an_odd_way_does(tmp_path, status):
    (reason,) = reasons(tmp_path, relay=wrong(status=status))
    assert reason[:2] == (status, "relay")


def test_what_the_judge_could_not_read_does(tmp_path):
    said = f"On 2 ranks, rank 0 returned an object of type {NOT_READABLE} where 1 was expected."
    (reason,) = reasons(tmp_path, relay=wrong(said))
    assert reason == ("wrong", "relay", "returned what the judge cannot read")


def test_a_file_that_could_not_be_read_does_and_nothing_else_is_said(tmp_path):
    assert reasons(tmp_path, unreadable="no notebook", relay=wrong(status="crashed")) == [
        ("unreadable", "", "no notebook")
    ]


def test_what_has_to_be_graded_again_does_whether_it_could_be_read_or_not(tmp_path):
    for unreadable in ("", "no notebook"):
        one = graded(tmp_path, "ada", manual=4.0, unreadable=unreadable)
        one.problem = "nbgrader could not take it"
        ((said, *more),) = [[r.said for r in look.reasons] for look in flagged.looks([one])]
        assert said == "has to be graded again: nbgrader could not take it"
        assert more == [unreadable] * bool(unreadable)


def test_cells_that_were_repaired_do(tmp_path):
    ((status, _, said),) = reasons(tmp_path, repaired=["the test cell a was changed"] * 7)
    assert status == "tampered" and "was changed" in said and said.endswith("and 2 more")


def test_source_that_reaches_for_the_records_does(tmp_path):
    said = "relay reaches for distlab.rank.recorder"
    assert reasons(tmp_path, flagged=[said]) == [("flagged", "", said)]


def test_points_by_hand_for_an_earlier_hand_in_do_also_where_the_new_one_is_untouched(tmp_path):
    first, *_ = reasons(tmp_path, outdated=["relay"], **UNTOUCHED)
    assert first[:2] == ("flagged", "relay") and "what was handed in before" in first[2]
    assert len(reasons(tmp_path, outdated=["relay", "exchange"])) == 2


def test_an_untouched_notebook_does(tmp_path):
    ((status, exercise, said),) = reasons(tmp_path, **UNTOUCHED)
    assert (status, exercise) == ("unanswered", "") and "nothing was answered" in said


def test_what_is_far_slower_than_the_class_does(tmp_path):
    slow = {"status": "passed", "seconds": 9.0}
    assert reasons(tmp_path, relay=slow) == [
        ("passed", "relay", "took 9.0 s where the class's median is 1.0 s")
    ]
    assert reasons(tmp_path, relay={**slow, "seconds": 4.0}) == []  # only four times


def test_free_text_waits_until_it_has_points(tmp_path):
    one, other = graded(tmp_path, "one"), graded(tmp_path, "other", manual=0.0)
    assert flagged.waiting([one, other]) == [one]
