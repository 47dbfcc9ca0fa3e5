"""Students' own inputs on the service's own disk: each student is given their own, and no other's.

    COURSE/own-inputs/STUDENT/LAB/own-inputs.json

What is in the files the service does not read: the grader makes them, and `distlab check` reads
them.
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
    """Those of all courses.

    Args:
        root: the exchange's folder.
        about: a file's digest, by its path and the name that it is told under.
        assembled: a folder of contents that were all sent, by course, sender and manifest.
    """

    def __init__(
        self, root: Path, about: Callable[[Path, str], File],
        assembled: Callable[[str, str, Manifest], Path],
    ) -> None:  # fmt: skip
        self._root, self._about, self._assembled = root, about, assembled

    def put(self, course: str, who: str, student: str, lab: str, manifest: Manifest) -> None:
        """Have a student given these, once the content is there.

        Raises:
            Missing: it is not.
            Refused: this is something else than one file of own inputs.
        """
        if [file.path for file in manifest.files] != [NAME]:
            raise Refused(f"a student's own inputs are one file, {NAME}")
        place = self._place(course, student, lab)
        with contextlib.suppress(OSError):  # asked again, since the answer was lost
            if self._about(place, NAME) == manifest.files[0]:
                return
        new = self._assembled(course, who, manifest)
        with staging.filled(), staging.whole_or_gone(new):
            place.parent.mkdir(parents=True, exist_ok=True)
            os.replace(new / NAME, place)
            staging.sync_names(place.parent)
            new.rmdir()

    def of(self, course: str, student: str) -> list[HandedOut]:
        """What a student is given."""
        found = []
        with contextlib.suppress(FileNotFoundError):
            for entry in sorted(os.scandir(self._folder(course) / student), key=lambda e: e.name):
                with contextlib.suppress(OSError):
                    place = self._place(course, student, entry.name)
                    found.append(HandedOut(student, entry.name, self._about(place, NAME)))
        return found

    def all(self, course: str) -> list[HandedOut]:
        """What everybody is given, by student."""
        students: list[str] = []
        with contextlib.suppress(FileNotFoundError):
            students = sorted(entry.name for entry in os.scandir(self._folder(course)))
        return [one for student in students for one in self.of(course, student)]

    def open(self, course: str, student: str, lab: str, digest: str) -> FileIO | None:
        """A student's file of a lab; `None` where it is another by now, or there is none."""
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
