"""What a message quotes of an answer is what stands at that line."""

import ast
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
