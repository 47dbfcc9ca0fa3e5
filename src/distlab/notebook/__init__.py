"""A notebook as a module: what its cells define, without what they only show.

`load` lets a script, `mp.spawn`, torchrun and sbatch use functions that were written in a
notebook. The same reading of a notebook serves the grader, which runs the cells one by one
(`distlab.checking.session`).
"""

from __future__ import annotations
import __future__

import ast
import contextlib
import functools
import json
import linecache
import os
import re
import sys
import threading
import types
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: a line that only IPython understands: a magic, a shell command, an assignment from either of
#: them, or a question (`torch.cat?`)
MAGIC = re.compile(
    r"^([ \t]*)(?=[^ \t])"  # so that a line of blanks is tried once, not once for each blank
    r"(?:[%!?].*|(?:[\w, .:*()]|\[[^]\n]*\])+=[ \t]*[%!].*|[^#\"'\n]*\?[ \t]*)$",
    re.M,
)
#: the tag of the course's cells that define something; its other cells only show something
GIVEN = "given"
#: the tag of a cell that writes a file of a module which lay beside the notebook
MODULE = "module"


_parsing = threading.Lock()


def _renew_lock() -> None:
    """In a forked child: another thread of the parent may have held the lock."""
    global _parsing
    _parsing = threading.Lock()


os.register_at_fork(after_in_child=_renew_lock)


def parse(source: str, filename: str = "<unknown>", mode: str = "exec") -> Any:
    """`ast.parse` for processes with several threads.

    CPython 3.11 counts the depth of the tree that it builds in one place for all threads: when two
    threads parse at the same time, either can end with a SystemError ("AST constructor recursion
    depth mismatch"), whatever its source.
    """
    with _parsing:
        return ast.parse(source, filename, mode)


def read(source: str) -> ast.Module:
    """The syntax tree of a cell, each of its magics replaced by `pass`, one that can bind any name
    by an import of everything, and what one is assigned from by `None`. In a source that is Python
    already nothing is taken for a magic: neither an operator that begins a line nor a question mark
    in a string.

    Raises:
        SyntaxError, ValueError, RecursionError, MemoryError: it cannot be parsed.
    """
    tree: ast.Module
    try:
        tree = parse(source)
    except SyntaxError:
        # no magic is expanded here: IPython would take minutes over some thousand of them
        magic = _CELL_MAGIC.match(source)
        if magic and magic[1] not in _RUN_HERE:
            return ast.Module([], [])
        tree = parse(MAGIC.sub(_as_statement, source))
    return tree


#: what a cell begins with that is a magic's as a whole
_CELL_MAGIC = re.compile(r"\s*%%(\w+)")
_RUN_HERE = ("time", "capture", "prun")  # cell magics that run their cell in the notebook
_BINDS_ANY = re.compile(r"%(run|pylab)\b")
_ASSIGNED = re.compile(r"([^%!=?]+=)[ \t]*[%!]")


def _as_statement(magic: re.Match[str]) -> str:
    text = magic[0].lstrip()
    if assigned := _ASSIGNED.match(text):
        return f"{magic[1]}{assigned[1]} None"
    return magic[1] + ("from notebook import *" if _BINDS_ANY.match(text) else "pass")


@dataclass(frozen=True)
class Cell:
    """A code cell. `kind`: "given" (the course's, which defines something), "shown" (the course's,
    which only shows something), "solution" (the student's answer to `name`), "test", or "added"
    (the student's own). `takes`: the exercises whose test cell follows: their answer is what has
    their name once this cell has run.
    """

    name: str
    source: str
    kind: str
    id: str = ""
    takes: tuple[str, ...] = ()

    def tree(self) -> ast.Module | None:
        """Its syntax tree, without magics; `None` where it cannot be parsed."""
        try:
            return read(self.source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):  # the last: nested too deep
            return None

    def defines(self) -> set[str]:
        """The names that its top level binds; empty where it cannot be parsed."""
        tree = self.tree()
        return set().union(*map(bound, tree.body)) if tree is not None else set()


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def bound(node: ast.stmt) -> set[str]:
    """The names that a statement binds in the scope that it stands in; `*` for those of
    `from … import *`.
    """
    names, left = set[str](), list[ast.AST]([node])
    while left:
        one = left.pop()
        if isinstance(one, _SCOPES):
            names.add(one.name)
            continue  # what stands inside is bound there
        if isinstance(one, (ast.Import, ast.ImportFrom)):
            names |= {(a.asname or a.name).split(".")[0] for a in one.names}
        elif isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
            names.add(one.id)
        elif isinstance(one, (ast.MatchAs, ast.MatchStar)) and one.name:
            names.add(one.name)
        elif isinstance(one, ast.MatchMapping) and one.rest:
            names.add(one.rest)
        elif isinstance(one, ast.comprehension):
            left += [one.iter, *one.ifs]  # its variable is gone afterwards; a walrus binds outside
            continue
        elif isinstance(one, ast.Lambda):
            left.append(one.args)  # the defaults of its parameters
            continue
        left += ast.iter_child_nodes(one)
    return names


def cells(content: Mapping[str, Any]) -> list[Cell]:
    """The code cells of a parsed notebook (format 4), in order. Those that write a module's file
    are named after that, and not counted.

    Raises:
        ValueError: it is not a notebook.
    """
    if not isinstance(content, Mapping) or not isinstance(content.get("cells"), list):
        raise ValueError("this is no notebook of format 4: it has no list of cells")
    found, modules = [], set[str]()
    for number, cell in enumerate(content["cells"], 1):
        if not isinstance(cell, Mapping) or cell.get("cell_type") != "code":
            continue
        source = source_of(cell)
        name, kind = _identity(cell, number - len(modules))
        written = _WRITTEN.match(source) if kind == "added" and MODULE in tags(cell) else None
        if written and written[1] not in modules:
            modules.add(name := written[1])
        found.append(Cell(name, source, kind, str(cell.get("id", ""))))
    return found


def source_of(cell: Mapping[str, Any]) -> str:
    """The source of a parsed cell as text that a file can hold: without lone surrogates."""
    source = cell.get("source", "")
    source = "".join(map(str, source)) if isinstance(source, list) else str(source)
    return source.encode("utf-8", "replace").decode("utf-8")


_WRITTEN = re.compile(r"%%writefile ([\w/.-]+\.(?:py|ipynb))\n")


def _identity(cell: Mapping[str, Any], number: int) -> tuple[str, str]:
    """(name, kind) of a cell: its grade_id where it has one, else its place in the notebook."""
    grading = _metadata(cell).get("nbgrader")
    if isinstance(grading, Mapping) and isinstance(grading.get("grade_id"), str):
        kind = (
            "solution" if grading.get("solution") else "test" if grading.get("grade") else "shown"
        )
        if kind != "shown":
            return grading["grade_id"], kind
    tagged = tags(cell)
    kind = "given" if GIVEN in tagged else "shown" if "shown" in tagged else "added"
    return f"cell {number}", kind


def _metadata(cell: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = cell.get("metadata")
    return metadata if isinstance(metadata, Mapping) else {}


def tags(cell: Mapping[str, Any]) -> list[Any]:
    """What a parsed cell is tagged with."""
    found = _metadata(cell).get("tags")
    return found if isinstance(found, list) else []


def plain(source: str) -> str:
    """A cell's source as Python: magics become calls of `get_ipython()`; the prompts of a pasted
    session, and the indentation that all lines share, are removed.
    """
    with contextlib.suppress(ValueError, RecursionError, MemoryError):
        try:
            parse(source)
        except SyntaxError:
            return _as_ipython(source)
    return source


def _as_ipython(source: str) -> str:
    from IPython.core.inputtransformer2 import TransformerManager

    made: str = TransformerManager().transform_cell(source)
    return made


def execute(source: str | ast.Module, name: str, namespace: dict[str, Any]) -> None:
    """Run code of a cell as IPython does, which waits for what it awaits outside of functions."""
    from distlab.notebook import event_loop  # asyncio takes long to be imported

    event_loop.run(compiled(source, name, namespace), namespace)


def compiled(source: str | ast.Module, name: str, namespace: Mapping[str, Any]) -> types.CodeType:
    """Code of a cell as IPython compiles it: what this module asks of `__future__` is not asked of
    it, what an earlier cell has asked of it still holds, and it may await outside of functions.
    """
    asked = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    for feature in __future__.all_feature_names:
        if namespace.get(feature) is getattr(__future__, feature):
            asked |= getattr(__future__, feature).compiler_flag
    code: types.CodeType = compile(source, name, "exec", asked, dont_inherit=True)
    return code


def _shell(namespace: dict[str, Any]) -> Any:
    """What `get_ipython()` gives the cells that run in this namespace."""
    from distlab.notebook.shell import Shell

    return Shell(namespace)


def _display(*objects: object, **how: object) -> None:
    """Takes the place of the `display` that IPython gives every cell."""
    print(*objects)


#: statements that define something; a loop or a `with` rather shows something
_DEFINING = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.Assign, ast.AnnAssign, ast.AugAssign, ast.If, ast.Try,
    getattr(ast, "TypeAlias", ast.Assign),  # since Python 3.12
)  # fmt: skip


def run_cell(
    cell: Cell, namespace: dict[str, Any], keep_going: bool = False, only_definitions: bool = False
) -> None:
    """Run a cell in `namespace`.

    Args:
        keep_going: go on with the next statement after one that raised.
        only_definitions: leave out statements that define nothing.
    """
    source = plain(cell.source)
    linecache.cache[cell.name] = (len(source), None, source.splitlines(True), cell.name)
    namespace.setdefault("get_ipython", functools.cache(lambda: _shell(namespace)))
    namespace.setdefault("display", _display)
    tree = parse(source, cell.name)
    if only_definitions:
        tree.body = [one for one in tree.body if isinstance(one, _DEFINING)]
    if not keep_going:
        execute(tree, cell.name, namespace)
        return
    for statement in tree.body:
        try:
            execute(ast.Module([statement], []), cell.name, namespace)
        except Exception:  # a cell of one's own that does not work here is nobody's mistake
            continue


def loaded(path: Path) -> list[Cell]:
    """The cells of a notebook that `load` runs: those that may define something.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no notebook.
    """
    try:
        content = json.loads(path.read_bytes())  # UTF-16 too, and UTF-8 with a mark before it
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no notebook: {error}") from error
    return [cell for cell in cells(content) if cell.kind in ("given", "solution", "added")]


def load(
    path: str | Path, name: str | None = None, failed: dict[str, Exception] | None = None
) -> types.ModuleType:
    """Import a notebook, from here or where modules are: its given cells, a student's answers, and
    what other cells define.

    An answer that is still to be written is left out: a script may not need it. The module is
    entered in `sys.modules` under `name` (the file's stem by default), so that what it defines can
    be pickled by processes that load it too.

    Args:
        failed: if given, collects the exceptions of cells by the cells' names, and later cells
            still run; otherwise the first exception is raised.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is not a notebook.
    """
    from distlab.notebook import event_loop

    path = Path(path)
    # answers are judged in a folder of their own, and find what is beside them as modules
    there = (Path(folder, path) for folder in ("", *sys.path))
    path = next((file for file in there if file.is_file()), path)
    found = loaded(path)
    module = types.ModuleType(name or path.stem)
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    with event_loop.own():
        for cell in found:
            added = cell.kind == "added"
            try:
                run_cell(cell, module.__dict__, keep_going=added, only_definitions=added)
            except Exception as error:
                if failed is not None:
                    failed[cell.name] = error
                elif not (cell.kind == "solution" and is_todo(error)):
                    raise
    return module


def is_todo(error: BaseException) -> bool:
    """Is it what the released cell of an answer raises?"""
    return isinstance(error, NotImplementedError) and "TODO" in str(error)
