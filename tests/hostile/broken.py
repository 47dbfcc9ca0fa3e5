"""Submissions that are broken, or made to break whoever reads them: files, names and notebooks."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
from exchanging import exchanging

from distlab import course
from grader import coursedir
from hostile.entries import LAB, NOT_GRADED, Entry, notebook, right

NAME = course.notebook_name(LAB)
SCRIPT = "<script>alert('xss')</script><img src=x onerror=alert('xss')>"


def entries() -> Iterator[Entry]:
    for make in (_files, _structures, _cells, _texts, _names):
        yield from make()


def _unreadable(student: str, tries: str, write: Callable[[Path], None], says: str = "") -> Entry:
    return Entry(student, tries, write, status="unreadable", says=says, kind="broken")


def _fine(student: str, tries: str, write: Callable[[Path], None], **lost: str) -> Entry:
    return Entry(student, tries, write, lost=lost, kind="broken")


def _bytes(data: bytes) -> Callable[[Path], None]:
    return lambda folder: (folder / NAME).write_bytes(data) and None


def _files() -> Iterator[Entry]:
    def large(folder: Path) -> None:
        with (folder / NAME).open("wb") as file:
            file.truncate(240 << 20)  # zeros, which are UTF-32: a fourth of it as UTF-8

    def replaced(make: Callable[[Path], None]) -> Callable[[Path], None]:
        def write(folder: Path) -> None:
            folder.rmdir()
            make(folder)

        return write

    yield _unreadable("size_240_MB", "a notebook of 240 MB", large, "the limit is 50 MB")
    yield _unreadable("empty", "an empty file", _bytes(b""), "is empty")
    yield _unreadable("cut", "half a notebook", _bytes(b'{"cells": [{"cell_type": "co'))
    yield _unreadable("not_utf8", "bytes that are no UTF-8", _bytes(b'{"cells": ["\xff\xfe"]}'))
    yield _unreadable("nul_bytes", "a megabyte of zeros", _bytes(bytes(1 << 20)))
    yield _unreadable("missing", "no notebook", lambda folder: None, "is not there")
    yield _unreadable("folder", "a folder of the notebook's name",
                      lambda folder: (folder / NAME).mkdir(), "no plain file")  # fmt: skip
    yield _unreadable("pipe", "a named pipe, for whoever opens it",
                      lambda folder: os.mkfifo(folder / NAME), "no plain file")  # fmt: skip
    yield _unreadable("link_to_secrets", "a link to the solutions",
                      lambda folder: (folder / NAME).symlink_to(coursedir.SOLUTIONS / LAB / NAME),
                      "no plain file")  # fmt: skip
    yield _unreadable("link_to_itself", "a link to itself",
                      lambda folder: (folder / NAME).symlink_to(NAME), "no plain file")  # fmt: skip
    yield _unreadable("endless_device", "a link to /dev/zero",
                      lambda folder: (folder / NAME).symlink_to("/dev/zero"))  # fmt: skip
    yield _unreadable("linked_folder", "its folder is a link to the solutions",
                      replaced(lambda folder: folder.symlink_to(coursedir.SOLUTIONS / LAB)),
                      "no folder")  # fmt: skip
    yield _unreadable("file_for_folder", "a file where the folder should be",
                      replaced(lambda folder: folder.write_text("{}") and None),
                      "no folder")  # fmt: skip

    def escapes(folder: Path) -> None:
        for number in range(2):
            (folder / f"\x1b]0;owned\x07{SCRIPT.replace('/', '')}{number}.ipynb").write_text(
                json.dumps(right())
            )

    yield _unreadable("escapes_in_file_names", "two notebooks with terminal escapes and HTML in "
                      "their names", escapes, "2 other notebooks")  # fmt: skip

    def one_escape(folder: Path) -> None:
        (folder / "\x1b[2J ünïcode '\"\n$(reboot) ..ipynb.ipynb").write_text(json.dumps(right()))

    yield _fine("renamed_with_escapes", "a right notebook whose name clears the screen", one_escape)

    def lured(folder: Path) -> None:
        notebook(right())(folder)
        (folder / "lure").symlink_to(coursedir.SOLUTIONS / LAB / NAME)

    yield Entry("exchanged_meanwhile", "a link to the solutions and a notebook that are exchanged "
                "for each other all the time", lured, perhaps="unreadable", kind="broken",
                meanwhile=lambda folder: exchanging(folder / NAME, folder / "lure"))  # fmt: skip

    def bombs(folder: Path) -> None:
        bomb = b'{"nbformat": 4, "cells": [{"outputs": [' + b"[]," * 5_000_000 + b"[]]}]}"
        for number in range(30):
            (folder / f"{number}.ipynb").write_bytes(bomb)

    yield _unreadable("thirty_bombs", "30 notebooks of other names, each of 15 MB of empty lists",
                      bombs, "is not there")  # fmt: skip


def _structures() -> Iterator[Entry]:
    whole = right()
    for cell in whole["cells"]:
        cell["source"] = "".join(cell["source"])

    def old(version: int) -> dict:
        return nbformat.convert(nbformat.from_dict(whole), version)

    second = {
        "nbformat": 2, "nbformat_minor": 0, "metadata": {"name": "old"},
        "worksheets": [{"metadata": {}, "cells": [
            {"cell_type": "code", "language": "python", "input": "".join(cell["source"]),
             "outputs": [], "collapsed": False, "prompt_number": 1}
            for cell in whole["cells"] if cell["cell_type"] == "code"
        ]}],
    }  # fmt: skip
    yield _fine("format_3", "a notebook of format 3, right", notebook(old(3)))
    yield _fine("format_2", "a notebook of format 2, right", notebook(second))
    yield _unreadable("format_1", "format 1 with nothing in it", notebook({"nbformat": 1}))
    yield _unreadable("format_9", "a format that is to come",
                      notebook({"nbformat": 9, "kells": []}))  # fmt: skip
    yield _unreadable("format_3_of_lists", "format 3 with numbers for worksheets",
                      notebook({"nbformat": 3, "worksheets": [1, [2], None]}))  # fmt: skip
    yield _unreadable("no_object", "a list where a notebook should be", notebook([1, 2, 3]))
    yield _unreadable("cells_no_list", "cells that are an object", notebook({"cells": {"a": 1}}))
    yield _unreadable("deep_json", "100 000 lists in lists", _bytes(b"[" * 100_000))
    yield _unreadable("deep_cells", "lists in lists in a cell",
                      _bytes(b'{"cells": [' + b"[" * 5000 + b"]" * 5000 + b"]}"))  # fmt: skip
    yield _unreadable("json_bomb", "45 MB of empty lists, a gigabyte when they are read",
                      _bytes(b'{"nbformat": 4, "cells": [' + b"[]," * 15_000_000 + b"[]]}"),
                      "too many")  # fmt: skip
    yield _unreadable("long_number", "a number of a million digits",
                      _bytes(b'{"nbformat": 4, "cells": [' + b"1" * 1_000_000 + b"]}"))  # fmt: skip
    yield _unreadable("cells_without_end", "100 000 cells with nothing in them",
                      notebook({"nbformat": 4, "cells": [{}] * 100_000}),
                      "the limit is 5000")  # fmt: skip

    def with_outputs(piece: bytes, megabytes: int) -> Callable[[Path], None]:
        content = copy.deepcopy(right())
        for cell in content["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == "relay":
                cell["outputs"] = [{"output_type": "display_data", "metadata": {},
                                    "data": {"application/json": ["@"]}}]  # fmt: skip
        before, after = json.dumps(content).encode().split(b'"@"')
        return _bytes(before + piece * ((megabytes << 20) // len(piece)) + b"0" + after)

    yield _fine("outputs_of_100_MB", "a right notebook with pictures of 100 MB",
                with_outputs(b'"' + b"iVBOR" * 200_000 + b'",', 100))  # fmt: skip
    yield _fine("outputs_of_lists", "a right notebook with 15 million empty lists in its outputs",
                with_outputs(b"[],", 45))  # fmt: skip
    yield _fine("outputs_of_no_number", "a right notebook with NaN and infinity in its outputs",
                with_outputs(b"NaN,-Infinity,", 1))  # fmt: skip
    nothing = dict.fromkeys(course.exercises(LAB), "unanswered")
    yield _fine("cells_of_anything", "cells that are numbers, lists and nothing",
                notebook({"nbformat": 4, "cells": [1, [], None, "x", {}, {"cell_type": []}]}),
                **nothing)  # fmt: skip


def _cells() -> Iterator[Entry]:
    def changed(change: Callable[[dict], None]) -> Callable[[Path], None]:
        content = copy.deepcopy(right())
        for cell in content["cells"]:
            cell["source"] = "".join(cell["source"])
        change(content)
        return notebook(content)

    def each(change: Callable[[dict], None]) -> Callable[[dict], None]:
        return lambda content: [change(cell) for cell in content["cells"]] and None

    def graded(change: Callable[[dict], None]) -> Callable[[dict], None]:
        def run(content: dict) -> None:
            for cell in content["cells"]:
                if cell["metadata"].get("nbgrader", {}).get("grade"):
                    change(cell)

        return run

    def wrong_types(cell: dict) -> None:
        cell["metadata"] = {"nbgrader": [1], "tags": 5}

    def points(cell: dict) -> None:
        cell["metadata"]["nbgrader"].update(points=1e9, solution=True, locked=False)

    def renamed(cell: dict) -> None:
        if grading := cell["metadata"].get("nbgrader"):
            grading["grade_id"] = f"{grading['grade_id']}_{SCRIPT}"

    def duplicated(content: dict) -> None:
        tests = [c for c in content["cells"] if c["metadata"].get("nbgrader", {}).get("grade")]
        content["cells"] = [*content["cells"], *copy.deepcopy(tests), *copy.deepcopy(tests)]

    def without_tests(content: dict) -> None:
        content["cells"] = [
            c for c in content["cells"] if not c["metadata"].get("nbgrader", {}).get("grade")
        ]

    def swapped(content: dict) -> None:
        names = [c["metadata"].get("nbgrader", {}).get("grade_id") for c in content["cells"]]
        one, other = names.index("relay"), names.index("exchange")
        cells = content["cells"]
        cells[one]["metadata"], cells[other]["metadata"] = (
            cells[other]["metadata"], cells[one]["metadata"],
        )  # fmt: skip

    for student, tries, change in (
        ("metadata_of_lists", "metadata of wrong types everywhere", each(wrong_types)),
        ("ids_of_lists", "cell ids that are lists", each(lambda cell: cell.update(id=[[]]))),
        ("points_of_its_own", "a billion points for each test cell", graded(points)),
        ("grade_ids_changed", "other grade_ids, of HTML", each(renamed)),
        ("tests_duplicated", "each test cell three times", duplicated),
        ("tests_deleted", "no test cells", without_tests),
        ("tests_emptied", "test cells that always pass",
         graded(lambda cell: cell.update(source="pass"))),
        ("order_reversed", "all cells in reverse order",
         lambda content: content["cells"].reverse()),
        ("cells_swapped", "two solution cells with each other's metadata", swapped),
    ):  # fmt: skip
        yield _fine(student, tries, changed(change))


def _texts() -> Iterator[Entry]:
    def with_source(source: object, name: str = "relay") -> Callable[[Path], None]:
        content = copy.deepcopy(right())
        for cell in content["cells"]:
            if cell["metadata"].get("nbgrader", {}).get("grade_id") == name:
                cell["source"] = source
        return notebook(content)

    def with_added(*sources: str, kind: str = "code") -> Callable[[Path], None]:
        content = copy.deepcopy(right())
        at = next(i for i, c in enumerate(content["cells"]) if c["cell_type"] == "code")
        content["cells"][at + 1 : at + 1] = [
            {"cell_type": kind, "metadata": {}, "source": source, "id": f"own{i}", "outputs": []}
            for i, source in enumerate(sources)
        ]
        return notebook(content)

    hang = "import time\ntime.sleep(60)"
    yield _fine(
        "source_a_number", "a cell whose source is a number", with_source(7), relay="unanswered"
    )
    yield _fine("nul_in_source", "a NUL in the source", with_source("x = 1\0"), relay="error")
    yield _fine("lone_surrogates", "halves of surrogate pairs in source and text",
                with_source("def relay(rank, size, tensor):\n    return '\ud800\udfff'"),
                relay="wrong")  # fmt: skip
    yield _fine("cell_of_10_MB", "a cell of 10 MB", with_source("#" * (10 << 20)),
                relay="unanswered")  # fmt: skip
    yield _fine("nested_minus", "an expression nested 60 000 deep, for who parses it",
                with_source("-" * 60_000 + "1"), relay="error")  # fmt: skip
    yield _fine("nested_elif", "60 000 branches", relay="error",
                write=with_source("if a: pass\n" + "elif b: pass\n" * 15_000))  # fmt: skip
    yield _fine("magics", "20 000 magics in a cell, for who expands them",
                with_source("%x\n" * 20_000), relay="timeout")  # fmt: skip
    yield _fine("thousand_cells", "1000 added cells that each hang", with_added(*[hang] * 1000))
    yield _fine("crashing_cells", "200 added cells that each end their process",
                with_added(*["import os\nos._exit(0)"] * 200))  # fmt: skip
    link = f"[click](javascript:alert('xss')) {SCRIPT}"
    yield _fine("script_in_text", "scripts in text that was added",
                with_added(SCRIPT, link, kind="markdown"))  # fmt: skip
    yield _fine("script_in_answer", "scripts in a free-text answer",
                with_source(f"# {SCRIPT}\n\n{SCRIPT}", "speaking_first"))  # fmt: skip
    yield _fine("slow_markdown", "text that takes hours to turn into a page",
                with_source("\\begin{a}" * 100_000, "speaking_first"))  # fmt: skip

    def stamped(data: bytes) -> Callable[[Path], None]:
        def write(folder: Path) -> None:
            notebook(right())(folder)
            with (folder / "timestamp.txt").open("wb") as file:
                file.write(data)
                file.truncate(max(len(data), 1 << 30) if not data else len(data))

        return write

    yield _fine("timestamp_of_1_GB", "a time of hand-in of 1 GB", stamped(b""))
    yield _fine("timestamp_of_nothing", "a time of hand-in that is none", stamped(b"\xff tomorrow"))
    yield _fine("timestamp_of_year_9999", "handed in at the end of time",
                stamped(b"9999-12-31 23:59:59 -1400"))  # fmt: skip


def _names() -> Iterator[Entry]:
    write = notebook(right())
    for name, tries in (
        ("o neill-brown.1+x@home", "spaces and signs in a name"),
        ("Zoë Ångström 李雷", "letters of other scripts in a name"),
        ("-rf", "a name like an option"),
    ):
        yield _fine(name, tries, write)
    for name, tries in (
        ("*", "a name that is a pattern for all names"),
        ("h[a-z]*", "a name that is a pattern for some"),
        ("[red]x[bold]", "markup for the terminal in a name"),
        ("\x1b[2J\nname", "escapes and a line break in a name"),
        ("<script>alert('xss')<", "a script in a name"),
        ("=cmd|' C'!A0", "a formula in a name"),
        ("{0}.{student_id}", "placeholders in a name"),
        ("x" * 250, "a name of 250 characters"),
        (" padded ", "spaces around a name"),
        ("...", "a name of dots"),
        (os.fsdecode(b"\xff\xfe"), "a name that is no UTF-8"),
    ):
        yield Entry(
            name, tries, write, status=NOT_GRADED, says="the name of the folder", kind="broken"
        )
