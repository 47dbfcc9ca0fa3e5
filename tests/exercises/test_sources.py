"""What a message quotes of an answer is what stands at that line."""

import ast
import sys
import textwrap

import pytest

from distlab.exercises import sources
from distlab.exercises.sources import Sources

CELL = """
%matplotlib inline
def helper(t):
    for i in range(3):
        if t is None:
            return (
                i,
                t,
            )

def exchange(rank, size, tensor):
    def inner():
        return tensor + 1
    return inner()
"""


@pytest.mark.parametrize(
    ("function", "line", "text"),
    [
        ("helper", 4, "for i in range(3):"),
        ("helper", 5, "if t is None:"),
        ("helper", 7, "return ( i, t, )"),
        ("inner", 13, "return tensor + 1"),
        ("exchange", 14, "return inner()"),
        ("exchange", 4, ""),  # there it is not
        ("helper", 400, ""),
        ("nobody", 4, ""),
    ],
)
def test_a_line_is_quoted_where_its_function_stands(function, line, text):
    assert Sources({"a": CELL, "b": "not Python ("}).line(function, line) == text


NESTED = """
if a:
    pass
else:
    try:
        pass
    except ValueError:
        def f(): return 8
    finally:
        with a:
            match a:
                case 1:
                    class C:
                        def g(self): return 14
"""


@pytest.mark.parametrize(("function", "line"), [("f", 8), ("g", 14)])
def test_functions_are_found_in_statements_of_any_kind(function, line):
    assert Sources({"a": NESTED}).line(function, line).endswith(f"return {line}")


COMPOUND = """
async def f(rank):
    match rank:
        case 0:
            return 5
    async with a:
        return 7
    async for b in a:
        return 9
    try:
        return 11
    except* ValueError:
        return 13
"""
if sys.version_info < (3, 11):  # in which there is no such clause
    COMPOUND = COMPOUND.replace("except*", "except")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (2, "async def f(rank):"), (3, "match rank:"), (6, "async with a:"),
        (8, "async for b in a:"), (10, "try:"),
    ],
)  # fmt: skip
def test_of_a_statement_that_holds_others_its_own_line_is_quoted(line, text):
    of = Sources({"a": COMPOUND})
    assert of.line("f", line) == text
    assert of.line("f", 5) == "return 5"


def test_where_two_cells_have_different_lines_none_is_quoted():
    two = {"a": "def f():\n    return 1", "b": "def f():\n    return 2"}
    assert Sources(two).line("f", 2) == ""
    assert Sources({**two, "b": two["a"]}).line("f", 2) == "return 1"


def test_a_long_line_is_cut():
    text = Sources({"a": f"def f():\n    return {'x + ' * 100}1"}).line("f", 2)
    assert len(text) == sources.LONGEST and text.endswith("…")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return dist.all_reduce(t)", "all_reduce"),
        ("t = all_reduce(t)", "all_reduce"),
        ("p.grad = dist.all_reduce(p.grad)", "all_reduce"),
        ("return [broadcast(p, 0) for p in t]", "broadcast"),
        ("return torch.stack(dist.all_gather(rows, t))", "all_gather"),
        ("dist.reduce(t, 0).div_(2)", "reduce"),
        ("t.register_hook(lambda g: (dist.all_reduce(g), g)[0])", ""),
        ("return dist.all_reduce(t), t", "all_reduce"),
        ("dist.all_reduce(t)", ""),
        ("[dist.all_reduce(p) for p in t]", ""),
        ("request = dist.all_reduce(t, async_op=True)", ""),
        ("return dist.recv(t, 0)", ""),
    ],
)
def test_the_result_of_a_call_that_works_in_place_is_seen(body, name):
    tree = ast.parse(f"def f(t):\n{textwrap.indent(body, '    ')}")
    assert sources.result_taken(tree) == name


def test_without_a_source_no_call_is_seen():
    assert sources.result_taken(Sources().function("f")) == ""


@pytest.mark.parametrize(
    "line", ["x = strategy.reduce(SUM, x, axis=None)", "x = reduce(add, x)", "x = np.add.reduce(x)"]
)
def test_what_others_call_reduce_returns_something(line):
    assert sources.result_taken(ast.parse(f"def f(x, dist):\n    {line}\n")) == ""


def test_the_functions_of_a_cell_are_those_at_its_top():
    of = Sources({"exchange": CELL, "relay": "def relay(:"})
    assert of.defined_in("exchange") == ["helper", "exchange"]
    assert of.defined_in("relay") == of.defined_in("group_mean") == []


TODO = 'raise NotImplementedError("TODO f")'


@pytest.mark.parametrize(
    ("body", "left"),
    [
        (TODO, 0),
        (f'"""What f does."""\nimport torch\n\n{TODO}', 0),
        (f"...\n{TODO}", 0),
        (f"x = 1\n{TODO}", 3),
        (f"if rank:\n    {TODO}\nreturn 1", 3),
        ("x = 1\nreturn x", 0),
        ("x = 1\nraise NotImplementedError('later')", 0),
    ],
)
def test_a_todo_is_left_where_something_is_written(body, left):
    of = Sources({"f": f"def f(rank, size):\n{textwrap.indent(body, '    ')}"})
    assert of.todo_left("f") == left
    assert of.is_released("f") == (left == 0 and body.endswith(TODO))


def test_an_answer_that_is_no_function_is_released_too():
    assert Sources({"f": f"# f = {{…}}\n{TODO}"}).is_released("f")
    assert not Sources({"f": f'f = {{"a"}}\n{TODO}'}).is_released("f")
    assert not Sources({"f": ""}).is_released("f")


def test_an_exception_that_takes_long_to_be_made_is_no_todo():
    deep = " + ".join(["'a'"] * 900)
    of = Sources({"f": f"def f():\n    x = 1\n    raise NotImplementedError('TODO f' + {deep})"})
    assert of.todo_left("f") == 0
