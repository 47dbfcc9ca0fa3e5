"""Reading what students have handed in: their notebook, the time, and nbgrader's secret.

A submission is a folder STUDENT/ASSIGNMENT below one that only the instructor changes. Students may
have put anything into it, and may change it while it is read: everything is opened by descriptors
(`distlab.processes.untrusted`).
"""

from __future__ import annotations

import contextlib
import datetime
import itertools
import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from distlab import course
from distlab import notebook as notebooks
from distlab.checking import submission
from distlab.checking.notebook_file import Room
from distlab.checking.submission import Content, NotNow, Unreadable
from distlab.processes import untrusted
from distlab.records import redaction
from grader.paths import LABS

MOST_NOTEBOOKS = 20  # that are looked at where a submission has none of the right name
MOST_MODULES = 50  # beside a notebook that are taken over, with the files of packages
MOST_NAMES = 1_000  # that are looked at in folders: of packages, and where there is no notebook
MOST_TOLD = 10  # names of what is passed over
DEEPEST = 3  # folders in each other
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".7z", ".rar")


def notebook(folder: Path) -> Content:
    """The notebook of a submission: the one of the right name, else the only one that holds this
    lab's exercises. The modules beside it that it names are cells of it (`with_modules`).

    Raises:
        Unreadable: there is no such notebook, or more than one, or it cannot be read.
        NotNow: it may be there, and cannot be read by this account or at this moment.
    """
    return with_modules(folder, _notebook(folder))


def _notebook(folder: Path) -> Content:
    named = course.notebook_name(folder.name)
    with _opened(folder) as handle:
        if handle.holds(named):
            return submission.read(named, handle.handle)
        fitting = _fitting(handle, folder.name)
        place = "" if fitting else _below(handle)
    # copies that an editor or a system keeps beside a notebook (.ipynb.bak, .ipynb~) do not count
    fitting = {name: one for name, one in fitting.items() if _is_plain(name)} or fitting
    if len(fitting) != 1:
        raise Unreadable(f"{named} is not there{_instead(len(fitting), place)} {named}")
    return next(iter(fitting.values()))


def with_modules(folder: Path, content: Content) -> Content:
    """A submission's notebook with a cell before all others for each module of the student's own
    beside it that it names, or one of these does, for each file of a package and for each other
    notebook that it runs or loads: the cell writes that file. The notebook alone is judged, and
    where the student has checked it they were there.

    Raises:
        NotNow: one of these notebooks cannot be read by this account or at this moment.
    """
    there, made, left = set[str](), list[Content](), submission.room()
    scripts = {path.stem for path in (LABS / folder.name).glob("*.py")}
    with _opened(folder) as handle:
        with contextlib.suppress(OSError):  # one that may be entered and not listed
            there.update(name.removesuffix(".py") for name in handle.names())
        there.discard(course.notebook_name(folder.name))
        sources = [cell.source for cell in notebooks.cells(content) if there]
        for source in sources:
            imported = set(_IMPORTED.findall(source))
            # a lab's own script has to be imported: who runs one in a cell, trains
            named = set(re.findall(r"\w+", source)) - (scripts - imported)
            for name in sorted(there & (named | {*_NOTEBOOK.findall(source)})):
                there.remove(name)
                for path in _files(handle, name)[: MOST_MODULES - len(made)]:
                    try:
                        text, code = _read(handle, path, left)
                    except NotNow:
                        raise
                    except (OSError, Unreadable):  # it cannot be a module
                        continue
                    sources += code
                    made.append(_writes(path, text))
    return {**content, "cells": [*made, *content["cells"]]}


def _files(folder: untrusted.Folder, name: str) -> list[Path]:
    """The file of a module, and those of a package: Python's, in folders that it can enter."""
    if name.endswith(".ipynb"):
        return [Path(name)]
    alone, found = Path(f"{name}.py"), list[Path]()
    with contextlib.suppress(OSError):  # its name may be too long for a file's
        found += [alone] * folder.holds(alone.name)
    with contextlib.suppress(OSError), folder.folder(name) as inner:
        found += itertools.islice(_paths(inner, Path(name)), MOST_NAMES)
    return [
        path for path in found
        if path.suffix == ".py" and all(map(str.isidentifier, path.with_suffix("").parts))
    ]  # fmt: skip


def _read(folder: untrusted.Folder, path: Path, left: Room) -> tuple[str, list[str]]:
    """What is in a file, and the Python in it: of a notebook its code cells."""
    if len(path.parts) > 1:
        with folder.folder(path.parts[0]) as inner:
            return _read(inner, path.relative_to(path.parts[0]), left)
    if path.suffix == ".ipynb":
        content = submission.read(path, folder.handle, left)
        code = [cell.source for cell in notebooks.cells(content)]
        # without texts, whose pictures count as characters of cells; the others keep their places
        kept = [
            cell if isinstance(cell, dict) and cell.get("cell_type") == "code" else {}
            for cell in content["cells"]
        ]
        return json.dumps({**content, "cells": kept}), code
    data = untrusted.read(path, submission.CELL_LIMIT, folder.handle)
    text = data.decode("utf-8-sig", "replace")
    return text, [text]


def _writes(path: Path, text: str) -> Content:
    """A cell that writes this file."""
    tags = {"tags": [notebooks.MODULE]}
    return {"cell_type": "code", "metadata": tags, "source": f"%%writefile {path}\n{text}"}


_IMPORTED = re.compile(r"(?:^|[;:])[ \t]*(?:from|import)[ \t]+(\w+)", re.M)
# what %run runs, and what a string names for `load`; in one pass, since a line may have a million
# characters
_NOTEBOOK = re.compile(
    r"""(?:^[ \t]*%run[ \t](?:.*?[^\w.-])??|["'](?:[^"'\n]*/)?)([\w.-]+\.ipynb)(?![\w.-])""", re.M
)


def _instead(fitting: int, place: str) -> str:
    """What is there in place of the notebook, and what to do about it."""
    then = "hand in the notebook under the name"
    if fitting:
        return f", and {fitting} other notebooks hold this lab's exercises: {then}"
    if place.casefold().endswith(_ARCHIVES):
        return f", but {place}: unpack that, and {then}"
    if place:
        return f", but {place} below it: move that up, and {then}"
    return f": {then}"


def _below(folder: untrusted.Folder) -> str:
    """A notebook in a folder of a submission, or an archive, if there is either: its path."""
    for place in itertools.islice(_paths(folder, Path()), MOST_NAMES):
        suffixes = (".ipynb", *_ARCHIVES) if len(place.parts) > 1 else _ARCHIVES
        if place.name.casefold().endswith(suffixes):
            return redaction.shown(str(place))
    return ""


def _paths(folder: untrusted.Folder, above: Path) -> Iterator[Path]:
    """What is in a folder and in those in it, leaving out what programs hide."""
    for name in folder.names():
        if name.startswith(".") or (name.startswith("__") and not name.endswith(".py")):
            continue
        yield above / name
        if len(above.parts) < DEEPEST:
            with contextlib.suppress(OSError), folder.folder(name) as inner:
                yield from _paths(inner, above / name)


def others(submitted: Path) -> str:
    """What is said of what is passed over, behind a colon or the like; empty where nothing is."""
    if not (names := passed_over(submitted)):
        return ""
    more = f" and {len(names) - MOST_TOLD} more" if len(names) > MOST_TOLD else ""
    named = ", ".join(names[:MOST_TOLD])
    return f": passed over, being no STUDENT/ASSIGNMENT/NOTEBOOK.ipynb: {named}{more}"


def passed_over(submitted: Path) -> list[str]:
    """The names among the submissions that are no STUDENT with a folder of a lab, as downloads from
    other systems have them, and folders whose names are nearly a lab's: none of it is graded.
    """
    found = []
    for entry in sorted(submitted.glob("[!.]*")):
        names = [each.name for each in entry.glob("[!.]*")]
        nearly = [f"{entry.name}/{name}" for name in names if _is_nearly_a_lab(name)]
        if entry.is_dir() and not os.access(entry, os.R_OK | os.X_OK):
            nearly = [f"{entry.name} (this account may not read it)"]
        elif not nearly and not any(name in course.LABS for name in names):
            nearly = [entry.name]
        found += nearly
    return [redaction.shown(name) for name in found]


def _is_nearly_a_lab(name: str) -> bool:
    plain = re.sub(r"[\W_]+", "-", name.casefold())
    return name not in course.LABS and any(plain.startswith(lab) for lab in course.LABS)


def of_another_lab(content: Content, lab: str) -> list[str]:
    """A sentence where a notebook holds the exercises of another lab and none of this one's."""
    found = {cell.name for cell in notebooks.cells(content) if cell.kind == "solution"}
    shared = {each: len(found & set(course.exercises(each))) for each in course.LABS}
    most = max(shared, key=shared.__getitem__)
    if shared[lab] or not shared[most]:
        return []
    return [f"this is the notebook of {most}: hand in {course.notebook_name(lab)} of {lab}"]


def beside(folder: Path) -> list[str]:
    """A sentence for each other notebook in the folder that holds this lab's exercises: whoever has
    answered nothing in the one of the right name may have worked in that one.
    """
    named = course.notebook_name(folder.name)
    try:
        with _opened(folder) as handle:
            others = [name for name in _fitting(handle, folder.name) if name != named]
    except Unreadable:
        return []
    return [
        f"nothing is answered in {named}, and {redaction.shown(name)}, which holds this lab's "
        f"exercises too, was not graded: only {named} counts"
        for name in others
    ]


def _fitting(folder: untrusted.Folder, assignment: str) -> dict[str, Content]:
    """The notebooks that hold a lab's exercises; all together may be as large as one."""
    # Windows and browsers add to a name: .ipynb.txt, .ipynb.json
    named = [name for name in folder.names() if ".ipynb" in name.casefold()]
    names = sorted(named, key=_is_plain, reverse=True)[:MOST_NOTEBOOKS]
    left, fitting, unread = submission.room(), dict[str, Content](), list[NotNow]()
    for name in names:
        try:
            content = submission.read(name, folder.handle, left)
        except NotNow as error:
            unread.append(error)
        except Unreadable:
            continue
        else:
            found = {cell.name for cell in notebooks.cells(content)}
            if found & set(course.exercises(assignment)):
                fitting[name] = content
    if unread and not fitting:
        raise unread[0]
    return fitting


def timestamp(folder: Path) -> str:
    """When a submission was handed in; empty where its file does not say so."""
    try:
        with _opened(folder) as handle:
            text = untrusted.read("timestamp.txt", 100, handle.handle).decode("ascii").strip()
    except (Unreadable, ValueError):
        return ""
    return text if parsed(text) else ""


def parsed(text: str) -> datetime.datetime | None:
    """A time that a student's program wrote, in UTC; `None` where the text is no time."""
    from nbgrader.utils import parse_utc

    try:
        # no slash: dateutil opens files that are named where a time zone should be
        when = parse_utc(text) if re.fullmatch(r"[\w:.+ -]+", text, re.ASCII) else None
    except Exception:  # whatever it says to what was written to break it
        return None
    return when if when is not None and 1970 <= when.year < 3000 else None


def secret(folder: Path) -> str:
    """The secret from which nbgrader names a submission's released feedback; empty where there is
    none.
    """
    try:
        with _opened(folder) as handle:
            found = untrusted.read("submission_secret.txt", 200, handle.handle)
            text = found.decode("ascii").strip()
    except (Unreadable, ValueError):
        return ""
    return text if re.fullmatch("[0-9a-f]{16,}", text) else ""


def _is_plain(name: str) -> bool:
    """Is a notebook named as Jupyter names it?"""
    return name.endswith(".ipynb") and not name.startswith(".")


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[untrusted.Folder]:
    """The folder STUDENT/ASSIGNMENT, neither of which may be a link."""
    student, assignment = folder.parts[-2:]
    try:
        with untrusted.Folder.at(folder.parent.parent, student, assignment) as opened:
            yield opened
    except untrusted.NotPlain as error:
        raise Unreadable(
            f"{assignment} is no folder: hand in a folder with the notebook in it"
        ) from error
    except FileNotFoundError as error:
        raise NotNow(
            f"{assignment} was removed or replaced while it was read: do the same again"
        ) from error
    except OSError as error:
        raise submission.locked(assignment, error) from error
