"""The same mistake in other words and numbers is one mistake."""

import pytest

from grader.judging.ledger import Line
from grader.reports.mistakes import masked, mistakes


def line(happened, status="wrong", hint=""):
    return Line("relay", status, 0.0, 3.0, happened=happened, hint=hint, look="Look there.")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("On 2 ranks (shape [3]), rank 1 returned 4.5.", "On 4 ranks, rank 0 returned -1e-07."),
        ("In a hidden case on 5 ranks, rank 1 raised ValueError at line 3",
         "On 2 ranks, ranks 0, 1 and 2 raised ValueError at line 12"),
        ("ring_time(n_bytes=8, size=2) returned 0.5 where 1 was expected",
         "In a hidden case, ring_time returned 4.5 where 2.25 was expected"),
        ("rank 0 raised NameError: name 'a' is not defined at f:2 (`a + 1`)",
         "rank 1 raised NameError: name 'b' is not defined at f:7 (`b`)"),
    ],
)  # fmt: skip
def test_numbers_names_and_cases_make_no_difference(one, other):
    assert masked(one) == masked(other)


def test_another_kind_of_call_is_another_mistake():
    assert masked("rank 0 waits in send(dst=1)") != masked("rank 0 waits in recv(src=1)")


def test_the_commonest_comes_first_with_who_made_it():
    found = mistakes([
        ("ada", line("On 2 ranks, rank 0 raised A")),
        ("ben", line("On 2 ranks, rank 1 returned 3", hint="sum for mean")),
        ("chen", line("On 4 ranks, rank 0 returned shape", hint="sum for mean")),
        ("dora", line("", status="passed")),
        ("emil", line("", status="unanswered")),
    ])  # fmt: skip
    assert [(one.name, one.students) for one in found] == [
        ("sum for mean", ["ben", "chen"]), ("", ["ada"]),
    ]  # fmt: skip
    assert found[0].look == "Look there."


def test_the_same_words_with_another_status_are_another_mistake():
    assert len(mistakes([("a", line("x", "crashed")), ("b", line("x", "timeout"))])) == 2
