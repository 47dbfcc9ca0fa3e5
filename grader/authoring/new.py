"""Begin an exercise or a lab: everything that has to be there, ready to run.

What is written works as it stands, with a small exercise in it. Each line that the author has to
replace says so, and `distlab lint` names those that are left.
"""

from __future__ import annotations

import builtins
import json
import keyword
import os
import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from distlab import course
from distlab import notebook as notebooks
from distlab.cli import labs
from grader.collected import ANSWERS
from grader.paths import ROOT, SOLUTIONS

_TEMPLATES = Path(__file__).parent / "templates"
_ASSISTANTS = _TEMPLATES / "AGENTS.md"
_CASES = ROOT / "grader" / "cases"
_LAB = re.compile(r"\d\d(-[a-z0-9]+)+")
_EXERCISE = re.compile(r"[a-z][a-z0-9_]*")  # a cell's id is made of it
_POINTS = 2


class NotMade(Exception):
    """What was asked for cannot be made; the message says why, and what to do instead."""


def lab(name: str) -> list[Path]:
    """Begin a lab: empty packages for exercises and hidden cases, notebook, script, batch file.

    Returns:
        the files that were written.

    Raises:
        NotMade: the name is none, there is such a lab, or a file is in the way.
    """
    if not _LAB.fullmatch(name):
        raise NotMade(f"{name!r} is no name of a lab: two digits and words, as in 12-fast-links")
    if any(known[:2] == name[:2] for known in course.LABS):
        raise NotMade(f"there is a lab {name[:2]} already: choose another number")
    words = {"lab": name, "title": name[3:].replace("-", " ").capitalize(), "stem": _stem(name)}
    folder = SOLUTIONS / name
    made = {
        _package(name) / "__init__.py": _filled("lab.py", **words),
        _CASES / course.package(name) / "__init__.py": f'"""Hidden cases of lab {name}."""\n',
        folder / f"{_stem(name)}.ipynb": _notebook(words),
        folder / f"{_stem(name)}.py": _filled("script.py", **words),
        folder / f"{_stem(name)}.sbatch": _filled("script.sbatch", **words),
    }
    link = folder / _ASSISTANTS.name
    _need_free(*made, link)
    _write(made)
    # the same in every lab; `make labs` copies what it leads to
    link.symlink_to(os.path.relpath(_ASSISTANTS, link.parent))
    return [*made, link]


def exercise(lab: str, name: str) -> list[Path]:
    """Begin an exercise of a lab: its module, hidden cases, cells, two collected answers.

    Returns:
        the files that were written or changed.

    Raises:
        Mistaken: there is no such lab.
        NotMade: there is such an exercise; the name is no function's; or a file is in the way.
    """
    lab = labs.named(lab)
    if not _EXERCISE.fullmatch(name) or keyword.iskeyword(name):
        raise NotMade(f"{name!r} is no name of an exercise: a function's, as ring_all_reduce")
    if name.startswith("test_"):  # points are found by it
        raise NotMade(f"{name!r} is no name of an exercise: test_ begins those of the test cells")
    if name in course.exercises(lab):
        raise NotMade(f"lab {lab} has an exercise {name} already")
    if name in _taken(lab):
        raise NotMade(f"the notebook of {lab} has another {name}, which this one would replace")
    words = {"lab": lab, "name": name, "points": str(_POINTS)}
    listed = _package(lab) / "__init__.py"
    notebook = SOLUTIONS / lab / course.notebook_name(lab)
    changed = {
        listed: _listed(listed.read_text("utf-8"), name),
        notebook: _with_cells(json.loads(notebook.read_text("utf-8")), words),
    }
    made = {
        _package(lab) / f"{name}.py": _filled("exercise.py", **words),
        _CASES / course.package(lab) / f"{name}.py": _filled("cases.py", **words),
        ANSWERS / lab / name / "right_sum_of_a_list.py": _filled("right.py", **words),
        ANSWERS / lab / name / "wrong_own_tensor.py": _filled("wrong.py", **words),
    }
    _need_free(*made)
    _write({**made, **changed})
    return [*made, *changed]


def _package(lab: str) -> Path:
    return Path(course.__path__[0], course.package(lab))


def _stem(lab: str) -> str:
    return course.notebook_name(lab).removesuffix(".ipynb")


def _filled(template: str, **words: str) -> str:
    text = (_TEMPLATES / f"{template}.txt").read_text("utf-8")
    return string.Template(text).substitute(words)


def _need_free(*paths: Path) -> None:
    """Raises:
    NotMade: one of these files is there, so that nothing is begun.
    """
    for path in paths:
        if path.exists() or path.is_symlink():
            raise NotMade(f"{path} is there already: move it out of the way")


def _write(files: Mapping[Path, str]) -> None:
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def _taken(lab: str) -> set[str]:
    """Python's names, and those that the lab's cells bind: torch, dist, and what is given."""
    content = json.loads((SOLUTIONS / lab / course.notebook_name(lab)).read_text("utf-8"))
    return set(dir(builtins)).union(*(cell.defines() for cell in notebooks.cells(content)))


def _listed(source: str, name: str) -> str:
    """The source of a lab's `__init__` with the exercise added at the end of its list."""
    head, bracket, tail = source.rpartition("]")
    if not bracket:
        raise NotMade(f"the lab's EXERCISES is no list of names: add {name!r} to it by hand")
    head = head.rstrip()
    comma = "" if head.endswith((",", "[")) else ","
    return f'{head}{comma}\n    "{name}",\n]{tail}'


def _notebook(words: dict[str, str]) -> str:
    return _dumped(
        {
            "cells": [
                _cell(f"{words['stem']}-title", "markdown", _filled("title.md", **words)),
                _cell("given", "code", _filled("given.py"), {"tags": ["given"]}),
            ],
            "metadata": {
                "kernelspec": {
                    "display_name": "Python 3", "language": "python", "name": "python3",
                },
                "language_info": {"name": "python"},
            },
            "nbformat": 4, "nbformat_minor": 5,
        }
    )  # fmt: skip


def _with_cells(content: dict[str, Any], words: dict[str, str]) -> str:
    name = words["name"]
    own = {"grade": False, "grade_id": name, "locked": False, "solution": True}
    test = {"grade": True, "grade_id": f"test_{name}", "locked": True, "solution": False}
    both = {"schema_version": 3, "task": False}
    slug = name.replace("_", "-")
    content["cells"] += [
        _cell(f"about-{slug}", "markdown", _filled("about.md", **words)),
        _cell(slug, "code", _filled("solution.py", **words), {"nbgrader": {**own, **both}}),
        _cell(f"test-{slug}", "code", f"check({name})", {"nbgrader": {**test, **both}}),
    ]
    return _dumped(content)


def _cell(
    id: str, kind: str, source: str, metadata: dict[str, Any] | None = None
) -> dict[str, Any]:
    cell: dict[str, Any] = {"cell_type": kind, "id": id[:64], "metadata": metadata or {}}
    cell["source"] = source.rstrip("\n").splitlines(keepends=True)
    if kind == "code":
        cell.update(execution_count=None, outputs=[])
    return cell


def _dumped(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
