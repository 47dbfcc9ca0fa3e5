"""The source of an answer, for messages to quote and for what can be told from it.

Jupyter hides line numbers, so a message that names a line shows it. The text comes from the cell as
its author wrote it, never from what a rank has told, and only where the function that is named
really stands at that line.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator, Mapping, Sequence

from distlab import notebook

Function = ast.FunctionDef | ast.AsyncFunctionDef
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_NEWLINE = re.compile(r"\r\n|\r|\n")  # as Python counts lines
MOST_LINES = 500  # the highest line number that is told: a larger one could carry information
LONGEST = 90  # characters of a quoted line
MOST_QUOTED = 4  # lines that a verdict quotes
_PLACE = re.compile(r"\b([A-Za-z_]\w*):(\d+)\b")
_LINE = re.compile(r"\bline (\d+)\b")  # how a message on a hidden case names a place


class Sources:
    """The cells that an answer and its companions come from.

    Args:
        cells: their sources, by any name.
    """

    def __init__(self, cells: Mapping[str, str] | None = None) -> None:
        self._cells = dict(cells or {})

    def line(self, function: str, number: int) -> str:
        """The statement at this line of a function of that name, on one line; "" where there is no
        such function, or where several cells have one there.
        """
        found = {
            _quoted(source, node, number)
            for source, node in self._functions.get(function, ())
            if node.lineno <= number <= (node.end_lineno or 0)
        }
        return found.pop() if len(found) == 1 else ""

    def holds(self, number: int) -> bool:
        """Has one of the cells a line of this number that is not blank?"""
        return number <= MOST_LINES and any(
            0 < number <= len(lines) and lines[number - 1].strip() for lines in self._lines
        )

    def quoted(
        self, said: str, places: set[tuple[str, int]], hidden: bool
    ) -> tuple[tuple[str, str], ...]:
        """The lines that a message names, as (place, source).

        Args:
            places: (function, line) of all places that may be meant.
            hidden: the message is on a hidden case, and names lines without their function.
        """
        if hidden:
            found = {
                f"Line {number}": {self.line(f, n) for f, n in places if n == int(number)} - {""}
                for number in _LINE.findall(said)
            }
        else:
            found = {
                f"{function}:{number}": {self.line(function, int(number))} - {""}
                for function, number in _PLACE.findall(said)
            }
        certain = [(place, texts.pop()) for place, texts in found.items() if len(texts) == 1]
        return tuple(certain[:MOST_QUOTED])

    @functools.cached_property
    def _lines(self) -> list[list[str]]:
        return [_NEWLINE.split(source) for source in self._cells.values()]

    def function(self, name: str) -> Function | None:
        """The last definition of a function of that name at the top of a cell."""
        top = [node for _, node in self._functions.get(name, ()) if node.col_offset == 0]
        return top[-1] if top else None

    def defined_in(self, cell: str) -> list[str]:
        """The functions at the top of a cell, in their order."""
        tree = _parsed(self._cells.get(cell, ""))
        return [node.name for node in tree.body if isinstance(node, _FUNCTION)]

    def todo_left(self, name: str) -> int:
        """The line of the TODO that a function was released with, where it has been written and
        has kept that; 0 otherwise.
        """
        function = self.function(name)
        if function is None or not _is_written(function.body):
            return 0
        kept = (
            node.lineno
            for node in ast.walk(function)
            if isinstance(node, ast.Raise) and _is_todo(node)
        )
        return next(kept, 0)

    def is_released(self, name: str) -> bool:
        """Is the answer in the cell of that name as it was released: its TODO, and nothing
        written?
        """
        function = self.function(name)
        body = function.body if function else _parsed(self._cells.get(name, "")).body
        return any(map(_is_todo, body)) and not _is_written(body)

    @functools.cached_property
    def _functions(self) -> dict[str, list[tuple[str, Function]]]:
        """All functions of the cells by name, each with the source of its cell."""
        found: dict[str, list[tuple[str, Function]]] = {}
        for source in self._cells.values():
            if "def" not in source:
                continue
            for node in _statements(_parsed(source)):
                if isinstance(node, _FUNCTION):
                    found.setdefault(node.name, []).append((source, node))
        return found


#: calls that leave their result in a tensor that they are given, and return None
IN_PLACE = {
    "all_reduce", "broadcast", "reduce", "all_gather", "gather", "scatter", "reduce_scatter",
    "all_to_all", "all_to_all_single", "all_gather_into_tensor", "reduce_scatter_tensor",
    "all_gather_single", "reduce_scatter_single",
}  # fmt: skip


def result_taken(function: ast.AST | None) -> str:
    """The name of a call in `function` that works in place and returns None, where that None is
    returned, assigned or passed on; "" where there is no such call.
    """
    nodes = list(ast.walk(function)) if function is not None else []
    picked = {id(node.value) for node in nodes if isinstance(node, ast.Subscript)}
    for node in nodes:
        if id(node) in picked:  # `(dist.all_reduce(g), g)[1]`, as in a lambda, is the tensor
            continue
        for call in _taken(node):
            name = called(call)
            if (
                name in IN_PLACE
                and not any(k.arg == "async_op" for k in call.keywords)
                and _of_torch(call.func, name)
            ):
                return name
    return ""


def _of_torch(called: ast.expr, name: str) -> bool:
    """Is this name torch.distributed's, as it is usually written? TensorFlow's strategies have a
    `reduce` that returns something, and so has Python.
    """
    root = called
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(called, ast.Name):
        return name != "reduce"
    return isinstance(root, ast.Name) and root.id in ("dist", "distributed", "torch", "c10d")


def _taken(node: ast.AST) -> list[ast.Call]:
    """The calls whose result a statement or an outer call makes use of."""
    if isinstance(node, (ast.Return, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        values: Sequence[ast.expr | None] = [node.value]
    elif isinstance(node, ast.Call):
        values = node.args
    elif isinstance(node, ast.Attribute):
        values = [node.value]
    else:
        values = getattr(node, "elts", [])
    each = (ast.ListComp, ast.GeneratorExp)
    values = [value.elt if isinstance(value, each) else value for value in values]
    return [value for value in values if isinstance(value, ast.Call)]


def _is_todo(node: ast.AST) -> bool:
    """Is it `raise NotImplementedError("TODO …")`?"""
    match node:
        case ast.Raise(ast.Call(ast.Name("NotImplementedError"), [ast.Constant(str(said))])):
            return said.startswith("TODO")
    return False


def _is_written(body: Sequence[ast.stmt]) -> bool:
    """Is there anything beside what an answer may be released with?"""
    return not all(_is_todo(node) or _does_nothing(node) for node in body)


def _does_nothing(node: ast.stmt) -> bool:
    """Is it a docstring, an ellipsis, `pass` or an import?"""
    return isinstance(node, (ast.Pass, ast.Import, ast.ImportFrom)) or (
        isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    )


def called(call: ast.Call) -> str:
    """The last part of the name that is called: "all_reduce" of `dist.all_reduce(…)`."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def _statements(module: ast.Module) -> Iterator[ast.stmt]:
    """All statements, nested ones included. Expressions are not looked into: there can be a hundred
    times as many of them.
    """
    left = module.body[::-1]
    while left:
        node = left.pop()
        yield node
        left += reversed(list(_inner(node)))


def _inner(node: ast.stmt) -> Iterator[ast.stmt]:
    for name in ("body", "orelse", "finalbody"):
        yield from getattr(node, name, ())
    for name in ("handlers", "cases"):
        for clause in getattr(node, name, ()):
            yield from clause.body


def _parsed(source: str) -> ast.Module:
    """The tree of a cell; an empty module where it is not Python."""
    try:
        return notebook.read(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last: nested too deep
        return ast.Module([], [])


def _quoted(source: str, function: Function, number: int) -> str:
    """The whole statement at this line; of one that contains others, only the line itself."""
    lines = _NEWLINE.split(source)
    around = [
        node
        for node in ast.walk(function)
        if isinstance(node, ast.stmt) and node.lineno <= number <= (node.end_lineno or 0)
    ]
    inner = max(around, key=lambda node: (node.lineno, node.col_offset))
    text = lines[number - 1] if number <= len(lines) else ""
    if next(_inner(inner), None) is None:
        text = "\n".join(lines[inner.lineno - 1 : inner.end_lineno])
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
