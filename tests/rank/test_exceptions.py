"""Exceptions of a student's code as data."""

import builtins

import pytest

from distlab.rank import exceptions


def raised(source: str) -> dict:
    """What is told of an exception that a notebook's cell with this source raises."""
    try:
        exec(compile(source, "<cell>", "exec"), {})
    except BaseException as error:
        return exceptions.describe(error)
    raise AssertionError("nothing was raised")


@pytest.fixture
def group():
    return getattr(builtins, "ExceptionGroup", None) or pytest.skip("Python 3.10 has none")


class Silent(ValueError):
    def __str__(self) -> str:
        raise RuntimeError("no text")


def test_of_a_group_of_exceptions_the_members_are_told(group):
    told = exceptions.describe(group("many", [ValueError("b"), KeyError("a")]))
    assert told["message"] == "many (2 sub-exceptions): ValueError: b; KeyError: 'a'"


def test_a_group_keeps_its_text_when_a_member_has_none(group):
    told = exceptions.describe(group("many", [Silent(), KeyError("a")]))
    assert told["message"] == "many (2 sub-exceptions): Silent; KeyError: 'a'"


ATTRIBUTES = """
class Wrapped(Exception):
    def __init__(self, inner):
        self.inner = self.described = inner

    def __getattr__(self, name):
        raise ZeroDivisionError
raise Wrapped("inner")
"""


def test_the_attributes_of_a_class_of_the_student_s_are_not_asked_for():
    told = raised(ATTRIBUTES)
    assert (told["type"], told["message"]) == ("Wrapped", "inner")


FROM = """
def load():
    try:
        {}["model"]
    except KeyError as error:
        raise ValueError("cannot be read") from error
load()
"""


@pytest.mark.parametrize("width", [1, 8])
def test_groups_in_groups_are_told_by_what_is_in_them_however_deep(group, width):
    deep = KeyError("a")
    for _ in range(2000):  # of eight members each, there are more exceptions than could be told
        deep = group("inner", [deep] * width)
    times = f" ({exceptions.MEMBERS} times)" if width > 1 else ""
    assert exceptions.describe(group("many", [deep]))["message"].endswith(f"KeyError: 'a'{times}")


def test_members_of_a_group_that_say_the_same_are_told_once(group):
    told = exceptions.describe(group("many", [ValueError("b"), ValueError("b"), KeyError("a")]))
    assert told["message"] == "many (3 sub-exceptions): ValueError: b (2 times); KeyError: 'a'"


def test_what_an_exception_was_raised_from_is_told_with_its_line():
    told = raised(FROM)
    assert (told["type"], told["message"]) == ("ValueError", "cannot be read")
    assert told["from"] == "its cause: KeyError: 'model' at load:4"
    assert [frame["line"] for frame in told["frames"]][-2:] == [7, 6]


def test_what_was_being_handled_when_another_was_raised_is_told():
    told = raised(FROM.replace(" from error", ""))
    assert told["from"] == "before it: KeyError: 'model' at load:4"


def test_what_was_raised_from_none_stands_alone():
    assert "from" not in raised(FROM.replace("from error", "from None"))


def test_a_cause_that_the_text_quotes_is_told_once():
    told = raised(FROM.replace('"cannot be read"', 'f"cannot be read: {error}"'))
    assert told["message"] == "cannot be read: 'model'" and "from" not in told
    told = raised(FROM.replace('"model"', "0").replace('"cannot', '"rank 0 cannot'))
    assert told["from"] == "its cause: KeyError: 0 at load:4"


LIBRARY = """
def found():
    try:
        {}["inner"]
    except KeyError:
        raise ValueError("mine")
"""


def test_what_a_library_handled_itself_is_not_told():
    scope: dict = {}
    exec(compile(LIBRARY, "/usr/site-packages/library.py", "exec"), scope)
    with pytest.raises(ValueError, match="mine") as caught:
        exec(compile("found()", "<cell>", "exec"), scope)
    assert isinstance(caught.value.__context__, KeyError)
    assert "from" not in exceptions.describe(caught.value)


CHAIN = """
try:
    try:
        1 / 0
    except ZeroDivisionError as first:
        raise KeyError("b") from first
except KeyError as second:
    raise ValueError from second
"""


def test_a_chain_is_told_from_its_end_to_its_beginning():
    cause, first = raised(CHAIN)["from"].split("; ")
    assert cause.startswith("its cause: KeyError: 'b' at ") and cause.endswith(":6")
    assert first.startswith("its cause: ZeroDivisionError: division by zero at ")


def test_an_exception_that_is_its_own_cause_is_told_once():
    error, other = ValueError("a"), KeyError("b")
    error.__cause__, other.__cause__ = other, error
    assert exceptions.describe(error)["from"] == "its cause: KeyError: 'b'"


def test_a_cause_without_a_text_is_told_by_its_type():
    error = ValueError("a")
    error.__cause__ = Silent()
    assert exceptions.describe(error)["from"] == "its cause: Silent"
