"""What the course's demonstrations define for a student's own cells.

Demonstrations are not run when a notebook is judged: they take long, and draw. But what one of them
has imported or defined is there in the notebook for all cells after it, and an answer that uses it
is right there.
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
    """A statement that does nothing but define: its source, the names that it binds and those that
    it uses.
    """

    source: str
    binds: frozenset[str]
    uses: frozenset[str]


def needed(cells: Sequence[Cell]) -> list[Cell]:
    """The cells of a notebook, its demonstrations with only those statements that define, and only
    what cells of the student's use and none of them has defined before; without demonstrations of
    which nothing is left.
    """
    found = {id(cell): _statements(cell.source) for cell in cells if cell.kind == "shown"}
    every = [one for statements in found.values() for one in statements]
    wanted = _words(cell for cell in cells if _is_own(cell))
    while more := {n for one in every if one.binds & wanted for n in one.uses} - wanted:
        wanted |= more
    kept: list[Cell] = []
    own: list[Cell] = []
    for cell in cells:
        if cell.kind == "shown":
            used = [one for one in found[id(cell)] if one.binds & wanted]
            lines = [one.source for one in used if not _defined(one.binds, own)]
            if lines:
                kept.append(replace(cell, source="\n".join(lines), kind="given"))
            continue
        kept.append(cell)
        if _is_own(cell):
            own.append(cell)
    return kept


def _is_own(cell: Cell) -> bool:
    return cell.kind in ("solution", "added")


def _defined(names: frozenset[str], cells: Iterable[Cell]) -> bool:
    """Does one of these cells bind one of these names? Few are parsed for it."""
    return any(names & cell.defines() for cell in cells if names & _words([cell]))


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


#: of what a value consists that is as it stands there
_LITERAL = (
    ast.Constant, ast.Tuple, ast.List, ast.Set, ast.Dict, ast.UnaryOp, ast.BinOp, ast.operator,
    ast.unaryop, ast.expr_context,
)  # fmt: skip


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        targets = [each for target in node.targets for each in ast.walk(target)]
        names = all(isinstance(each, (ast.Name, ast.Tuple, ast.expr_context)) for each in targets)
        return names and all(isinstance(each, _LITERAL) for each in ast.walk(node.value))
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return isinstance(node, kinds)


def _single(node: ast.stmt) -> list[ast.stmt]:
    """An import of several things as imports of one each: of these some may be wanted."""
    if isinstance(node, ast.Import):
        return [ast.Import([name]) for name in node.names]
    if isinstance(node, ast.ImportFrom):
        return [ast.ImportFrom(node.module, [name], node.level) for name in node.names]
    return [node]


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _words(cells: Iterable[Cell]) -> set[str]:
    """All that could be a name: nothing is parsed, which takes long where a cell is."""
    return {found.group() for cell in cells for found in _WORD.finditer(cell.source)}
