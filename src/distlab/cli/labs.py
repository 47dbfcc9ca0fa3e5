"""Labs by the names that people type, and `distlab fetch`: a student's lab folder, out of the
package or the repository.
"""

from __future__ import annotations

import difflib
import shlex
from pathlib import Path

from distlab import course
from distlab.cli.parts import Mistaken, Refused
from distlab.processes import origin

_PACKAGE = Path(origin.ROOT)


def named(asked: str) -> str:
    """The lab that a user of any command means: by its name, its number, or its name without the
    number.

    Raises:
        Mistaken: there is no such lab.
    """
    for lab in course.LABS:
        number, _, name = lab.partition("-")
        if asked in (lab, name, number, number.lstrip("0")):
            return lab
    like = difflib.get_close_matches(asked, course.LABS, 1)
    meant = f" (did you mean {like[0]}?)" if like else ""
    raise Mistaken(f"there is no lab {asked[:60]!r}{meant}; the labs are {', '.join(course.LABS)}")


def folder_of(lab: str) -> Path:
    """Where the lab's folder lies that students get.

    Raises:
        Refused: this installation has none.
    """
    # in a wheel beside the modules; in a repository that is installed in place, at its root
    for labs in (_PACKAGE / "labs", _PACKAGE.parent.parent / "labs"):
        if (labs / lab / course.notebook_name(lab)).is_file():
            return labs / lab
    raise Refused(f"this installation of distlab has no folder of lab {lab}: install its wheel")


def fetch(asked: str, to: Path | None = None) -> str:
    """Copy a lab's folder; what is there stays as it is.

    Args:
        asked: the lab.
        to: the folder to make or to complete; by default one with the lab's name.

    Returns:
        What was done and how to go on, as sentences.

    Raises:
        Mistaken: there is no such lab, or `to` cannot be a folder.
        Refused: something could not be written.
    """
    lab = named(asked)
    source, to = folder_of(lab), Path(lab) if to is None else to
    files = sorted(path for path in source.iterdir() if path.is_file())
    try:
        to.mkdir(parents=True, exist_ok=True)
        kept = [path.name for path in files if not _copied(path, to / path.name)]
    except (FileExistsError, NotADirectoryError) as error:
        raise Mistaken(f"{to} is no folder: name another one") from error
    except OSError as error:
        raise Refused(
            f"lab {lab} cannot be written to {to}: {error.strerror}; name another folder"
        ) from error
    place = "this folder" if to == Path() else to
    done = f"Lab {lab} is in {place}"
    if len(kept) == len(files):
        done = f"Lab {lab} was in {place} already, and nothing was changed"
    elif kept:
        done = f"{done}; what was there already was kept: {', '.join(kept)}"
    return (
        f"{done}.\nOpen {to / course.notebook_name(lab)} in JupyterLab; "
        f"`distlab check {shlex.quote(str(to))}` says how far you are."
    )


def _copied(source: Path, target: Path) -> bool:
    """Copy a file, unless something of that name is there, even a link that leads nowhere; returns
    whether it was copied.
    """
    content = source.read_bytes()
    try:
        file = target.open("xb")
    except FileExistsError:
        return False
    try:
        with file:
            file.write(content)
    except BaseException:  # half of a file would be kept the next time
        target.unlink(missing_ok=True)
        raise
    return True
