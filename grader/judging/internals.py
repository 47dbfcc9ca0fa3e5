"""Find submissions that reach for what only the course should touch: the recorder, its records and
their files; or that run text as code, in which they could hide this, and their answer from whoever
compares it with others.

Only the source is looked at, in which this can be hidden: a find is a reason for a person to look,
and costs no points. Those depend on what was measured (`distlab.network.measure`), where it can be.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Iterator

from distlab import notebook
from distlab.notebook import Cell

#: packages of distlab that no lab names: notebooks import everything from `distlab` itself
_PACKAGES = {"checking", "engines", "exercises", "network", "processes", "rank", "records"}
#: names that lead there from elsewhere
_NAMES = {
    "Recorder", "RecordedGroup", "RecordedWork", "paused", "_distributed_c10d", "_group",
    "_new_process_group_helper", "_register_process_group", "get_objects", "get_referrers",
    "get_referents", "_getframe", "_current_frames", "f_globals", "f_locals",
}  # fmt: skip
_FOREIGN = {"ctypes", "mmap", "_ctypes", "marshal"}
#: what runs text as code, or finds a module by a name that is put together
_RUNS_TEXT = frozenset({"exec", "eval", "compile", "__import__", "__builtins__"})
_BUILTINS = {"builtins", "__builtins__"}
_TEXT = re.compile(
    rf"distlab\.(?:{'|'.join(sorted(_PACKAGES))})\b|DISTLAB_RUN|\.rec\b|/proc/self/mem"
)
_WRITTEN = re.compile(r"\s*%%(?:write)?file\b.*")
_LONGEST = 200_000  # characters of a cell that are looked at


def reached(cells: Iterable[Cell]) -> list[str]:
    """A sentence for each of the student's own cells that does: "relay reaches for …"."""
    found = []
    own = set[str]()  # those names of `_RUNS_TEXT` that cells so far have given to something else
    for cell in cells:
        if cell.kind in ("solution", "added"):
            words = sorted(set(_words(cell.source[:_LONGEST], own)))
            if len(cell.source) > _LONGEST:
                words.insert(0, f"more room than is looked at ({_LONGEST:,} characters)")
            if words:
                shown = ", ".join(words[:5]) + ("…" if len(words) > 5 else "")
                found.append(f"{cell.name} reaches for {shown}")
    return found


def sources(source: str) -> list[str]:
    """What a cell runs, or writes for a later one to import or run: itself, or the text of a file,
    or the cells of a notebook.
    """
    if not (written := _WRITTEN.match(source)):
        return [source]
    text = source[written.end() :]
    try:
        found = notebook.cells(json.loads(text))
    except (ValueError, RecursionError):
        return [text]
    return [each for cell in found for each in sources(cell.source)]


def _words(source: str, own: set[str]) -> Iterator[str]:
    if _WRITTEN.match(source):
        yield from (match.group() for match in _TEXT.finditer(source))
        own = set()
    for text in sources(source):
        yield from _of_python(text, own)


def _of_python(source: str, own: set[str]) -> Iterator[str]:
    try:
        tree = notebook.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # IPython's magic, or nonsense
        yield from (match.group() for match in _TEXT.finditer(source))
        try:
            tree = notebook.read(source)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
    yield from _run_as_text(tree, own)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from filter(_is_internal, (alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module or ''}.{alias.name}"
                if _is_internal(name) or alias.name in _NAMES:
                    yield name
                elif node.module in _BUILTINS and alias.name in _RUNS_TEXT:
                    yield alias.name
        elif isinstance(node, ast.Call) and _finds_module(node):
            yield "import_module"
        elif isinstance(node, ast.Attribute) and (_is_named(node) or _is_builtin(node)):
            yield node.attr
        elif isinstance(node, ast.Attribute) and _is_distlab(node):
            yield f"distlab.{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (match.group() for match in _TEXT.finditer(node.value))


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_COMPOUND = (
    ast.For, ast.AsyncFor, ast.While, ast.If, ast.With, ast.AsyncWith, ast.Try, ast.Match
)  # fmt: skip
_Read = tuple[ast.AST, frozenset[str]]  # a node, and the names that are somebody's own there


def _run_as_text(tree: ast.Module, own: set[str]) -> Iterator[str]:
    """The names of what runs text as code, where they are read and mean that. A cell may have a
    function, a parameter or a variable of its own that is called like it.

    Args:
        own: those that are its own already; those that this cell makes so are entered.
    """
    for statement in tree.body:
        bound = notebook.bound(statement) & _RUNS_TEXT
        left: list[_Read] = [
            (statement, frozenset(own | bound if isinstance(statement, _COMPOUND) else own))
        ]
        while left:
            node, names = left.pop()
            if isinstance(node, _FUNCTIONS):
                left += _of_function(node, names, bound if node is statement else set())
            elif isinstance(node, _COMPREHENSIONS):
                left += _of_comprehension(node, names)
            else:
                left += [(one, names) for one in ast.iter_child_nodes(node)]
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    yield from {node.id} & _RUNS_TEXT - names
        own |= bound
        if isinstance(statement, ast.Delete):
            own -= {one.id for one in statement.targets if isinstance(one, ast.Name)}


def _of_function(
    function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda,
    names: frozenset[str],
    itself: set[str],
) -> Iterator[_Read]:
    """What is inside; only its body sees its parameters, what it binds, and `itself`."""
    body = function.body if isinstance(function.body, list) else [function.body]
    given = function.args
    taken = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    bound = {one.arg for one in taken if one is not None}
    bound.update(*(notebook.bound(one) for one in body if isinstance(one, ast.stmt)))
    for node in ast.walk(function):
        if isinstance(node, ast.Global):
            bound -= set(node.names)
    own, inside = names | itself | bound, set[ast.AST](body)
    for one in ast.iter_child_nodes(function):
        yield one, own if one in inside else names


def _of_comprehension(node: ast.expr, names: frozenset[str]) -> Iterator[_Read]:
    """What is inside; all but what the first `for` goes through sees the variables."""
    loops = [one for one in ast.iter_child_nodes(node) if isinstance(one, ast.comprehension)]
    own = names | {
        one.id
        for loop in loops for one in ast.walk(loop.target)
        if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)
    }  # fmt: skip
    yield loops[0].iter, names
    for one in ast.iter_child_nodes(node):
        for child in ast.iter_child_nodes(one) if isinstance(one, ast.comprehension) else [one]:
            if child is not loops[0].iter:
                yield child, own


def _is_named(node: ast.Attribute) -> bool:
    own = isinstance(node.value, ast.Name) and node.value.id == "self"  # a class of one's own
    return node.attr in _NAMES and not own


def _is_builtin(node: ast.Attribute) -> bool:
    named = isinstance(node.value, ast.Name) and node.value.id in _BUILTINS
    return named and node.attr in _RUNS_TEXT


def _finds_module(call: ast.Call) -> bool:
    """Is it `import_module` with a name that does not stand there?"""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    return name == "import_module" and not all(isinstance(one, ast.Constant) for one in call.args)


def _is_internal(name: str) -> bool:
    first, _, rest = name.partition(".")
    return first in _FOREIGN or (first == "distlab" and rest.split(".")[0] in _PACKAGES)


def _is_distlab(node: ast.Attribute) -> bool:
    named = isinstance(node.value, ast.Name) and node.value.id == "distlab"
    return named and node.attr in _PACKAGES
