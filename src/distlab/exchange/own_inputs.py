"""Students' own inputs on the service's disk: each student is given theirs, and nobody else's.

    COURSE/own-inputs/STUDENT/LAB/own-inputs.json

The service does not read the files: the grader makes them, and `distlab check` reads them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from distlab.exchange import names, staging
from distlab.exchange.manifest import File, Manifest
from distlab.exchange.names import Refused
from distlab.processes import untrusted

FOLDER = "own-inputs"
NAME = "own-inputs.json"


@dataclass(frozen=True)
class HandedOut:
    """A student's own inputs of a lab."""

    student: str
    lab: str
    file: File


class OwnInputs:
    """The own inputs in all courses.

    Args:
        root: the exchange's folder.
        about: (path, name) → the file, with its digest, under this name.
        assembled: (course, sender, manifest) → a new folder with these files, once all were sent.
    """

    def __init__(
        self, root: Path, about: Callable[[Path, str], File],
        assembled: Callable[[str, str, Manifest], Path],
    ) -> None:  # fmt: skip
        self._root, self._about, self._assembled = root, about, assembled

    def put(self, course: str, who: str, student: str, lab: str, manifest: Manifest) -> None:
        """Keep a student's own inputs, once their content is there.

        Raises:
            Missing: it is not.
            Refused: these are not a single file of own inputs.
        """
        if [file.path for file in manifest.files] != [NAME]:
            raise Refused(f"a student's own inputs are one file, {NAME}")
        place = self._place(course, student, lab)
        with contextlib.suppress(OSError):  # asked again, because the answer was lost
            if self._about(place, NAME) == manifest.files[0]:
                return
        new = self._assembled(course, who, manifest)
        with staging.filled(), staging.whole_or_gone(new):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(new / NAME, place)
            staging.sync_names(place.parent)
            new.rmdir()

    def of(self, course: str, student: str) -> list[HandedOut]:
        """A student's own inputs, by lab."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for entry in sorted(os.scandir(self._folder(course) / student), key=lambda e: e.name):
                with contextlib.suppress(OSError):
                    place = self._place(course, student, entry.name)
                    found.append(HandedOut(student, entry.name, self._about(place, NAME)))
        return found

    def all(self, course: str) -> list[HandedOut]:
        """Everybody's own inputs, by student."""
        students: list[str] = []
        with contextlib.suppress(FileNotFoundError):
            students = sorted(entry.name for entry in os.scandir(self._folder(course)))
        return [one for student in students for one in self.of(course, student)]

    def open(self, course: str, student: str, lab: str, digest: str) -> FileIO | None:
        """A student's file for a lab; `None` if there is none with this digest (any more)."""
        place = self._place(course, student, lab)
        try:
            if self._about(place, NAME).sha256 == digest:
                return untrusted.plain_file(place)
        except OSError:
            pass
        return None

    def _folder(self, course: str) -> Path:
        return self._root / course / FOLDER

    def _place(self, course: str, student: str, lab: str) -> Path:
        return self._folder(course) / names.person(student) / names.lab(lab) / NAME
