"""Find submissions that reach for what only the course should touch: the recorder, its records and
their files; or that run text as code, in which they could hide this, and their answer from whoever
compares it with others.

Only the source is looked at, in which this can be hidden: a find is a reason for a person to look,
and costs no points. Those depend on what was measured (`distlab.network.measure`), where it can be.
"""

from __future__ import annotations

import ast
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
_RUNS_TEXT = {"exec", "eval", "compile", "__import__"}
_TEXT = re.compile(
    rf"distlab\.(?:{'|'.join(sorted(_PACKAGES))})\b|DISTLAB_RUN|\.rec\b|/proc/self/mem"
)
_LONGEST = 200_000  # characters of a cell that are looked at


def reached(cells: Iterable[Cell]) -> list[str]:
    """A sentence for each of the student's own cells that does: "relay reaches for …"."""
    found = []
    for cell in cells:
        if cell.kind in ("solution", "added"):
            words = sorted(set(_words(cell.source[:_LONGEST])))
            if len(cell.source) > _LONGEST:
                words.insert(0, f"more room than is looked at ({_LONGEST:,} characters)")
            if words:
                shown = ", ".join(words[:5]) + ("…" if len(words) > 5 else "")
                found.append(f"{cell.name} reaches for {shown}")
    return found


def _words(source: str) -> Iterator[str]:
    try:
        tree = notebook.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # IPython's magic, or nonsense
        yield from (match.group() for match in _TEXT.finditer(source))
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from filter(_is_internal, (alias.name for alias in node.names))
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                name = f"{node.module or ''}.{alias.name}"
                if _is_internal(name) or alias.name in _NAMES:
                    yield name
        elif isinstance(node, ast.Name) and node.id in _RUNS_TEXT and _is_read(node):
            yield node.id
        elif isinstance(node, ast.Call) and _finds_module(node):
            yield "import_module"
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            yield node.attr
        elif isinstance(node, ast.Attribute) and _is_distlab(node):
            yield f"distlab.{node.attr}"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from (match.group() for match in _TEXT.finditer(node.value))


def _is_read(node: ast.Name) -> bool:
    """Is it used? A name may be given to something of one's own."""
    return isinstance(node.ctx, ast.Load)


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
