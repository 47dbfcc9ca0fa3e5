"""A line is told by the function in which the student wrote it, a comprehension's too."""

import sys
from types import SimpleNamespace

import pytest

from distlab.rank.exceptions import describe
from distlab.rank.places import function_of, stands_at


class Sender:
    def in_a_method(self):
        return [missing for _ in range(1)]  # noqa: F821


def in_a_list():
    return [missing for _ in range(1)]  # noqa: F821


def in_a_generator():
    return list(missing for _ in range(1))  # noqa: C400, F821


def in_both():
    return [list(missing for _ in range(1)) for _ in range(1)]  # noqa: C400, F821


@pytest.mark.parametrize(
    "function", [in_a_list, in_a_generator, in_both, Sender().in_a_method], ids=lambda f: f.__name__
)
def test_what_a_comprehension_raised_was_raised_in_its_function(function):
    with pytest.raises(NameError) as caught:
        function()
    told = describe(caught.value)["frames"][-1]
    assert (told["function"], told["file"]) == (function.__name__, "test_places.py")
    assert told["line"] == function.__code__.co_firstlineno + 1
    assert told["text"].startswith("return ")


def test_a_comprehension_outside_of_functions_keeps_its_name():
    code = compile("[1 for _ in ()]\n(1 for _ in ())", "cell", "exec")
    (within,) = [c for c in code.co_consts if getattr(c, "co_name", "") == "<genexpr>"]
    assert function_of(within) == "<genexpr>"


def frame_of(source: str, back: object) -> SimpleNamespace:
    code = compile(source, "<string>", "exec")
    return SimpleNamespace(f_code=code, f_back=back, f_lineno=1, f_lasti=0)


def test_a_rank_that_is_in_no_function_of_the_students_stands_at_no_place():
    """The first frame of the process is the command's that has started it, `python -c …`."""
    started = frame_of("pass", None)
    assert stands_at(started) is None
    assert stands_at(frame_of("pass", started)) is not None  # a student's exec
    function, line, *_ = stands_at(sys._getframe())
    assert function.decode() == sys._getframe().f_code.co_name[: len(function)] and line
