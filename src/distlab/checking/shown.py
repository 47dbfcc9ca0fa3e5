"""What the course's demonstrations define for a student's own cells.

Demonstrations are not run when a notebook is judged: they take long, and draw. But in the notebook,
what a demonstration has imported or defined is there for all cells after it, and an answer that
uses it is right there. So these statements are run.
"""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from distlab import notebook
from distlab.notebook import Cell

_WORD = re.compile(r"[^\W\d]\w*")


@dataclass(frozen=True)
class _Statement:
    """A statement that only defines something: its source, the names it binds and those it uses."""

    source: str
    binds: frozenset[str]
    uses: frozenset[str]


def needed(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a notebook, with its demonstrations cut down to what is needed of them: the
    statements that define something which a cell of the student's uses, and which no such cell has
    defined before. A demonstration of which nothing is left is left out.
    """
    found = {id(cell): _statements(cell.source) for cell in cells if cell.kind == "shown"}
    every = [one for statements in found.values() for one in statements]
    wanted = words(cell for cell in cells if _is_own(cell))
    while more := {n for one in every if one.binds & wanted for n in one.uses} - wanted:
        wanted |= more
    kept: list[Cell] = []
    own: list[_Own] = []
    for cell in cells:
        if cell.kind == "shown":
            used = [one for one in found[id(cell)] if one.binds & wanted]
            lines = [one.source for one in used if not _defined(one.binds, own)]
            if lines:
                kept.append(replace(cell, source="\n".join(lines), kind="given"))
            continue
        kept.append(cell)
        if _is_own(cell):
            own.append(_Own(cell))
    return kept


def _is_own(cell: Cell) -> bool:
    return cell.kind in ("solution", "added")


class _Own:
    """A cell of the student's: its words, and the names that it binds. It is parsed once, and only
    if that is asked for.
    """

    def __init__(self, cell: Cell) -> None:
        self._cell = cell

    @functools.cached_property
    def words(self) -> set[str]:
        return words([self._cell])

    @functools.cached_property
    def defines(self) -> set[str]:
        return self._cell.defines()


def _defined(names: frozenset[str], cells: Iterable[_Own]) -> bool:
    """Does one of these cells bind one of these names? Only cells that contain one are parsed."""
    return any(names & cell.defines for cell in cells if names & cell.words)


@functools.lru_cache(maxsize=1024)
def _statements(source: str) -> list[_Statement]:
    tree = Cell("", source, "shown").tree()
    try:
        return [
            _Statement(ast.unparse(one), frozenset(notebook.bound(one)), frozenset(_used(one)))
            for statement in (tree.body if tree is not None else ())
            if _defines(statement)
            for one in _single(statement)
        ]
    except RecursionError:  # of a notebook that is no course's
        return []


#: what a target consists of that only names something
_TARGET = (ast.Name, ast.Tuple, ast.expr_context)
#: what a value consists of that needs no evaluating
_LITERAL = (
    ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.operator,
    ast.unaryop, ast.expr_context,
)  # fmt: skip


def _defines(node: ast.stmt) -> bool:
    """Does this statement only define something, without evaluating what may take long?"""
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = all(isinstance(part, _TARGET) for target in targets for part in ast.walk(target))
        return names and all(isinstance(part, _LITERAL) for part in ast.walk(node.value))
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return isinstance(node, kinds)


def _single(node: ast.stmt) -> list[ast.stmt]:
    """An import of several things as one import for each: perhaps only some are wanted."""
    if isinstance(node, ast.Import):
        return [ast.Import([name]) for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return [ast.ImportFrom(node.module, [name], node.level) for name in node.names]
    return [node]


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def words(cells: Iterable[Cell]) -> set[str]:
    """Everything that could be a name. Nothing is parsed, which would take long for long cells."""
    return {found.group() for cell in cells for found in _WORD.finditer(cell.source)}
