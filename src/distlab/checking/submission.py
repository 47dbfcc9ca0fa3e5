"""A student's notebook against the course's: which cell answers which exercise, and what was
repaired.

Only solution cells and cells that the student has added are the student's; everything else is
taken from the course, whatever the submission says.
"""

from __future__ import annotations

import ast
import copy
import errno
import functools
import hashlib
import json
import os
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from distlab import notebook
from distlab.checking import notebook_file, shown
from distlab.checking.notebook_file import Room, TooMuch
from distlab.exercises.sources import Sources
from distlab.notebook import Cell
from distlab.processes import untrusted
from distlab.records import redaction

FILE_LIMIT = 256 << 20  # bytes of a notebook
SIZE_LIMIT = 50 << 20  # bytes of it without outputs
MOST_VALUES = 1_000_000  # in its JSON without outputs; parsed, each takes 30 times its bytes
MOST_CELLS = 5_000
MOST_REPAIRED = 100  # repairs that are listed
CELL_LIMIT = 1 << 18  # characters of a cell
TEXT_LIMIT = 20_000  # characters of a Markdown cell: making a page of it takes their square
ADDED_CELLS = 300  # cells that a student may have added
ADDED_LIMIT = 1 << 20  # characters of these together
Content = dict[str, Any]  # a parsed notebook, or one of its cells


class Unreadable(ValueError):
    """A submission from which nothing can be graded. The message says why, in one line."""


class NotNow(Unreadable):
    """What cannot be read by this account, or at this moment: that tells nothing of what is in it,
    and is nobody's zero.
    """


@dataclass(frozen=True)
class Plan:
    """What to run: the `cells` in order, and the exercises that are `answered`."""

    cells: list[Cell]
    answered: set[str]

    @property
    def digest(self) -> str:
        """The same for the same code in the same order."""
        text = json.dumps([[c.name, c.kind, c.source] for c in self.cells])
        return hashlib.sha256(text.encode()).hexdigest()

    @functools.cached_property
    def sources(self) -> Sources:
        """What messages quote, shared by all exercises: parsing long cells takes seconds."""
        return Sources({cell.name: cell.source for cell in self.cells})


def room() -> Room:
    """What may be read of one submission."""
    return Room(FILE_LIMIT, SIZE_LIMIT, MOST_VALUES)


_reading = threading.Lock()  # notebooks are read one at a time: each can take 300 MB for a moment


def read(path: str | Path, folder: int | None = None, left: Room | None = None) -> Content:
    """A notebook file as nbformat 4, older formats brought up to it, without the outputs of its
    cells. Links are not followed.

    Args:
        folder: a descriptor of the folder in which a relative path begins.
        left: how much of it may be read; reading uses that up.

    Raises:
        Unreadable: it cannot be read.
    """
    name = redaction.shown(os.path.basename(path))
    with _reading:
        content = _parsed(_text(path, folder, left or room(), name), name)
        if isinstance(content, dict) and content.get("nbformat") in (1, 2, 3):
            content = _upgraded(content, name)
    _check_count(content, name)
    try:
        notebook.cells(content)
    except ValueError as error:
        raise Unreadable(f"{name}: {error}: {_ANOTHER}") from error
    for cell in content["cells"]:
        if isinstance(cell, dict):  # of a longer cell nothing is run anyway
            cell["source"] = notebook.source_of(cell)[: ADDED_LIMIT + 1]
    found: Content = content
    return found


def _check_count(content: Any, name: str) -> None:
    cells = content.get("cells") if isinstance(content, dict) else None
    if isinstance(cells, list) and len(cells) > MOST_CELLS:
        raise Unreadable(
            f"{name} has {len(cells)} cells, the limit is {MOST_CELLS}: delete those that you have "
            "added and hand it in again"
        )


def _text(path: str | Path, folder: int | None, left: Room, name: str) -> bytearray:
    """The bytes of a notebook without outputs."""
    try:
        with untrusted.plain_file(path, folder=folder) as file:
            found = os.fstat(file.fileno())
            try:
                if found.st_size > left.bytes:
                    raise TooMuch("bytes")
                data = notebook_file.without_outputs(file, left)
            finally:  # half of a notebook may end within a letter
                now = os.fstat(file.fileno())
                if (now.st_size, now.st_mtime_ns) != (found.st_size, found.st_mtime_ns):
                    raise NotNow(f"{name} was written while it was read: do the same again")
    except TooMuch as error:
        raise Unreadable(f"{name} {_TOO_MUCH[error.what]}") from error
    except UnicodeDecodeError as error:
        raise _no_notebook(name, error) from error
    except FileNotFoundError as error:
        raise NotNow(f"{name} is not there any more: do the same again") from error
    except untrusted.NotPlain as error:
        raise Unreadable(
            f"{name} is no plain file: hand in the notebook itself, not a link"
        ) from error
    except OSError as error:
        raise locked(name, error) from error
    if not data:
        raise Unreadable(f"{name} is empty: save the notebook and hand it in again")
    return data


_TOO_MUCH = {
    "bytes": f"has more than {FILE_LIMIT >> 20} MB: clear its outputs and hand it in again",
    "kept": f"is too large even without its outputs (the limit is {SIZE_LIMIT >> 20} MB): delete "
    "the cells that you have added and hand it in again",
    "values": "holds too many lists and objects: delete the cells that you have added and hand it "
    "in again",
}


def _parsed(data: bytearray, name: str) -> Any:
    text = ""
    try:
        text = data.decode("utf-8")
        data.clear()  # bytes, text and tree at once would take too much memory
        return json.loads(text)
    except MemoryError as error:
        raise locked(name, OSError(errno.ENOMEM, os.strerror(errno.ENOMEM))) from error
    except (ValueError, RecursionError) as error:
        if _CONFLICT.search(text):
            raise Unreadable(
                f"{name} holds an unresolved git conflict (lines that begin with <<<<<<<): resolve "
                "it, open the notebook in Jupyter and hand it in again"
            ) from error
        raise _no_notebook(name, error) from error


_CONFLICT = re.compile(r"^<{7} ", re.M)  # no string in JSON goes over the end of a line


# Jupyter cannot open it either
_ANOTHER = (
    "hand in a copy of it that Jupyter opens, or download the lab again and write your answers "
    "into that"
)


def _no_notebook(name: str, error: Exception) -> Unreadable:
    # without the line: the text was read without outputs, and has fewer lines than the file
    said = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    reason = " ".join(said.split())[:120]
    return Unreadable(f"{name} is no notebook ({reason}): {_ANOTHER}")


def locked(name: str, error: OSError) -> NotNow:
    then = "give this account the right to read it and its folder"
    if error.errno not in (errno.EACCES, errno.EPERM):
        then = "do the same again when it can be read"
    return NotNow(f"{name} cannot be read here ({error.strerror}): {then}")


def _upgraded(content: Content, name: str) -> Content:
    try:
        import nbformat

        made: Content = nbformat.convert(nbformat.from_dict(content), 4)
        return made
    except Exception as error:
        raise Unreadable(
            f"{name} is in notebook format {content['nbformat']}, which cannot be brought up to "
            f"date: {_ANOTHER}"
        ) from error


def rebuild(course: Content, student: Content) -> tuple[Content, list[str]]:
    """The course's notebook with a student's answers in it, and what was repaired.

    Solution cells are found by `grade_id`, else by cell id, else by their text (Colab keeps no cell
    ids, and some programs no metadata). A cell that the student has added comes after the same
    course cell as in the student's notebook, a demonstration that was changed after
    the original. A second copy of a solution cell counts as an added one, so that the check below
    it finds what it finds in the student's notebook; where the first copy is as it was released,
    the second takes its place.
    """
    result = copy.deepcopy(course)
    for cell in result["cells"]:
        cell["source"] = notebook.source_of(cell)
    found, told_by_text = _recognised(result["cells"], student)
    places = {id(cell): place for place, cell in enumerate(result["cells"])}
    sources = {_bare(cell) for cell in course["cells"]}
    repaired: list[str] = []
    extra: dict[int, list[Content]] = {}
    own = _Added()
    filled: set[int] = set()
    anchor = -1
    for number, (cell, mine) in enumerate(zip(student["cells"], found, strict=True), 1):
        if not isinstance(cell, Mapping):
            continue
        if mine is not None and _is_answer(mine):
            place = places[id(mine)]
            if place not in filled:
                anchor = place
                _fill(mine, cell, repaired)
                filled.add(place)
                continue
            is_blank = _bare(mine) == _bare(course["cells"][place])
            repaired.append(_twice(mine, is_blank, _bare(cell) in sources))
            if is_blank:
                _fill(mine, cell, repaired)
                continue
            anchor = max(anchor, place)  # this copy may stand far above where the cell belongs
        elif mine is not None:
            anchor = places[id(mine)]
            if _grade_id(mine) or _bare(cell) in sources:
                continue  # given and test cells are the course's own
        if _bare(cell) not in sources:
            extra.setdefault(anchor, []).extend(own.taken(cell, number))
    if own.left_out:
        repaired.append(
            f"{own.left_out} of your own cells were left out: at most {ADDED_CELLS} with "
            f"{ADDED_LIMIT} characters together are taken over, files beside the notebook included"
        )
    seen = {places[id(mine)] for mine in found if mine is not None}
    _take_texts(result["cells"], sources, seen, extra, filled, repaired)
    _note_missing(result["cells"], filled, told_by_text, student, repaired)
    if more := repaired[MOST_REPAIRED:]:
        repaired[MOST_REPAIRED:] = [f"and {len(more)} repairs more"]
    result["cells"] = extra.get(-1, []) + [
        each for i, cell in enumerate(result["cells"]) for each in (cell, *extra.get(i, []))
    ]
    return result, repaired


def _recognised(course: list[Content], student: Content) -> tuple[list[Content | None], set[str]]:
    """The course's cell that each cell of a student's is, `None` for those that were added; and the
    `grade_id` of the course's cells that only their text told.
    """
    by_id = {cell["id"]: cell for cell in course if cell.get("id")}
    by_name = {_grade_id(cell): cell for cell in course if _grade_id(cell)}
    theirs: list[Mapping[str, Any]] = [
        cell if isinstance(cell, Mapping) else {} for cell in student["cells"]
    ]
    found = [by_name.get(_grade_id(cell)) or by_id.get(str(cell.get("id"))) for cell in theirs]
    by_text = _by_text(course, theirs, found)
    told = {_grade_id(cell) for cell in by_text.values()} - {""}
    return [by_text.get(number, mine) for number, mine in enumerate(found)], told


def _by_text(
    course: list[Content], theirs: list[Mapping[str, Any]], found: list[Content | None]
) -> dict[int, Content]:
    """The course's cell, by the number of the student's, of those that only their text tells.

    A text tells it only for a course cell that nothing else in the notebook claims to be, only
    once, and only between the same others as in the course: a copy may stand anywhere, and what
    comes after it has not moved with it.
    """
    claimed = _claimed(course, found)
    free: dict[str, list[int]] = {}
    for place in sorted(set(range(len(course))) - set(claimed)):
        if text := _bare(course[place]):
            free.setdefault(text, []).append(place)
    ends, end = list[int](), len(course)
    for own in reversed(claimed):
        ends.append(end)
        end = end if own is None else own
    told, begin, last = dict[int, Content](), -1, -1
    for number, each in enumerate(theirs):
        if (own := claimed[number]) is not None:
            begin = last = own
        if found[number] is not None:
            continue
        same = free.get(_bare(each), [])
        fitting = [place for place in same if begin < place < ends[-1 - number]]
        if fitting:
            last = next((place for place in fitting if place > last), fitting[0])
            same.remove(last)
            told[number] = course[last]
    return told


def _claimed(course: list[Content], found: list[Content | None]) -> list[int | None]:
    """The place in the course of each cell that was `found`; `None` for a second copy too, which
    tells nothing of its neighbours.
    """
    places = {id(cell): place for place, cell in enumerate(course)}
    claimed: dict[int, int] = {}  # the first cell that claims to be a place
    for number, mine in enumerate(found):
        if mine is not None:
            claimed.setdefault(places[id(mine)], number)
    first = {number: place for place, number in claimed.items()}
    return [first.get(number) for number in range(len(found))]


def plan(course: Content, rebuilt: Content, names: Iterable[str]) -> Plan:
    """Which cells of a rebuilt notebook to run, and which of the exercises `names` they answer."""
    released = {c.name: c.source.strip() for c in notebook.cells(course) if c.kind == "solution"}
    names, cells = list(names), list[Cell]()
    found = shown.needed(notebook.cells(rebuilt))
    blank = [c for c in found if c.kind == "solution" and c.source.strip() == released.get(c.name)]
    written = [c for c in found if c.kind in ("solution", "added") and c not in blank]
    own = [(cell.name, cell.defines()) for cell in written]
    # who calls a function that is still to be written is to be told so, by its TODO
    called = shown.words(written).difference(*(names_of for _, names_of in own))
    todo = [cell for cell in blank if cell.name in called & cell.defines()]
    taken = set().union(*(_read_at_once(c) for c in written if todo and c.kind == "solution"))
    for cell in found:
        if cell in todo and cell.name in taken:
            cells.append(replace(cell, kind="todo"))
        elif cell.kind in ("given", "added", "solution") and cell not in blank:
            cells.append(cell)
        elif cell.kind == "test" and cells and (tested := _tested(cell)) in names:
            cells[-1] = replace(cells[-1], takes=(*cells[-1].takes, tested))
    cells += [replace(cell, kind="todo") for cell in todo if cell.name not in taken]
    # a cell that cannot be parsed is an answer too, though one that does not work; and one that
    # imports everything from a module may have its answer from there
    answered = {
        name
        for name in names
        if any(
            name in names_of or (cell == name and (not names_of or "*" in names_of))
            for cell, names_of in own
        )
    }
    return Plan(cells, answered)


def _read_at_once(cell: Cell) -> set[str]:
    """The names that a cell reads while it runs: those in functions are read when these are
    called.
    """
    names, left = set[str](), list[ast.AST | None]([cell.tree()])
    while left:
        node = left.pop()
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            left += [*node.decorator_list, node.args, node.returns]
        elif isinstance(node, ast.Lambda):
            left.append(node.args)
        elif node is not None:
            names |= {node.id} if isinstance(node, ast.Name) else set()
            left += ast.iter_child_nodes(node)
    return names


def _tested(cell: Cell) -> str:
    """The exercise that a test cell checks."""
    return cell.name.removeprefix("test_")


def _grade_id(cell: Mapping[str, Any]) -> str:
    metadata = cell.get("metadata")
    grading = metadata.get("nbgrader") if isinstance(metadata, Mapping) else None
    name = grading.get("grade_id") if isinstance(grading, Mapping) else None
    return name if isinstance(name, str) else ""


def _is_answer(cell: Content) -> bool:
    return bool(cell["metadata"].get("nbgrader", {}).get("solution"))


def _twice(mine: Content, first_is_blank: bool, copy_is_blank: bool) -> str:
    """What is said about a second copy of a solution cell."""
    said = f"the cell {_grade_id(mine)} stands there twice"
    if copy_is_blank:
        return f"{said}: the later one is as it was released and was left out"
    if first_is_blank:
        return f"{said}: the first one is as it was released, and the later one counts"
    return f"{said}: the later one was taken for a cell of your own"


def _take_texts(
    cells: list[Content], released: set[str], seen: set[int], extra: dict[int, list[Content]],
    filled: set[int], repaired: list[str],
) -> None:  # fmt: skip
    """Where a free text is as it was released, put a Markdown cell of the student's own into it
    that stands in its place or just below: nbgrader gives no points for a text that nobody has
    changed, and no person would read the other one.

    Args:
        cells: the course's, filled at the places in `filled`.
        seen: the places of those that the student's notebook holds.
        extra: the student's own, by the place that they come after.
    """
    for place, mine in enumerate(cells):
        if not _is_answer(mine) or mine["cell_type"] == "code" or _bare(mine) not in released:
            continue
        before = place if place in filled else max((p for p in seen if p < place), default=-1)
        own = extra.get(before, [])
        text = next((cell for cell in own if cell["cell_type"] != "code"), None)
        if text is not None:
            own.remove(text)
            mine["source"] = text["source"]
            filled.add(place)
            repaired.append(f"a cell of your own was taken for the text {_grade_id(mine)}")


def _fill(mine: Content, theirs: Mapping[str, Any], repaired: list[str]) -> None:
    """Put a student's cell into the course's."""
    name, source = _grade_id(mine), notebook.source_of(theirs)
    retyped = theirs.get("cell_type") != mine["cell_type"]
    if retyped:
        repaired.append(f"the cell {name} is no {mine['cell_type']} cell any more")
    if retyped and mine["cell_type"] == "code":
        return  # it does not run in the notebook either
    if len(source) > CELL_LIMIT:
        repaired.append(f"the cell {name} has over {CELL_LIMIT} characters and was left out")
    else:
        if _grade_id(theirs) != name:
            repaired.append(f"the metadata of the cell {name} was restored")
        if mine["cell_type"] != "code" and len(source) > TEXT_LIMIT:
            repaired.append(f"the text {name} was cut after {TEXT_LIMIT} characters")
            source = source[:TEXT_LIMIT]
        mine["source"] = source


class _Added:
    """Counts the cells that a student has added, and takes no more than are allowed."""

    def __init__(self) -> None:
        self._cells, self._characters, self.left_out = 0, 0, 0

    def taken(self, cell: Mapping[str, Any], number: int) -> list[Content]:
        source = notebook.source_of(cell)
        if self._cells == ADDED_CELLS or self._characters + len(source) > ADDED_LIMIT:
            self.left_out += 1
            return []
        self._cells += 1
        self._characters += len(source)
        kind = "code" if cell.get("cell_type") == "code" else "markdown"
        tags = ["added", *({notebook.MODULE} & {*map(str, notebook.tags(cell))})]
        made: Content = {
            "cell_type": kind, "id": f"student-{number}", "metadata": {"tags": tags},
            "source": source,
        }  # fmt: skip
        if kind != "code":
            made["source"] = source[:TEXT_LIMIT]
        else:
            made.update(outputs=[], execution_count=None)
        return [made]


def _bare(cell: Mapping[str, Any]) -> str:
    return notebook.source_of(cell).strip()


def _note_missing(
    cells: list[Content],
    filled: set[int],
    told_by_text: set[str],
    student: Content,
    repaired: list[str],
) -> None:
    theirs = {
        _grade_id(c): notebook.source_of(c) for c in student["cells"] if isinstance(c, Mapping)
    }
    stripped = theirs and not any(theirs)
    missing = "not found, because no cell has its metadata" if stripped else "missing"
    for number, cell in enumerate(cells):
        name, grading = _grade_id(cell), cell["metadata"].get("nbgrader", {})
        if _is_answer(cell):
            if number not in filled:
                repaired.append(f"the cell {name} was {missing}")
        elif grading.get("grade") and name in told_by_text:
            repaired.append(f"the metadata of the cell {name} was restored")
        elif grading.get("grade") and theirs.get(name, "").strip() != _bare(cell):
            what = "changed" if name in theirs else missing
            repaired.append(f"the test cell {name} was {what}")
