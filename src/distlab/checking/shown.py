"""What the course's demonstrations define for a student's own cells.

Demonstrations are not run when a notebook is judged: they take long, and draw. But what one of them
has imported or defined is there in the notebook for all cells after it, and an answer that uses it
is right there.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from distlab import notebook
from distlab.notebook import Cell


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
    what cells of the student's use; without demonstrations of which nothing is left.
    """
    found = {id(cell): _statements(cell.source) for cell in cells if cell.kind == "shown"}
    wanted = _names(cell for cell in cells if cell.kind in ("solution", "added"))
    every = [one for statements in found.values() for one in statements]
    while more := {n for one in every if one.binds & wanted for n in one.uses} - wanted:
        wanted |= more
    kept = []
    for cell in cells:
        if cell.kind == "shown":
            lines = [one.source for one in found[id(cell)] if one.binds & wanted]
            if lines:
                kept.append(replace(cell, source="\n".join(lines), kind="given"))
        else:
            kept.append(cell)
    return kept


@functools.lru_cache(maxsize=1024)
def _statements(source: str) -> list[_Statement]:
    tree = Cell("", source, "shown").tree()
    return [
        _Statement(ast.unparse(one), frozenset(notebook.bound(one)), frozenset(_used(one)))
        for one in (tree.body if tree is not None else ())
        if _defines(one)
    ]


def _defines(node: ast.stmt) -> bool:
    if isinstance(node, ast.Assign):
        return isinstance(node.value, ast.Constant)
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return isinstance(node, kinds)


def _names(cells: Iterable[Cell]) -> set[str]:
    trees = (cell.tree() for cell in cells)
    return {name for tree in trees if tree is not None for name in _used(tree)}


def _used(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
