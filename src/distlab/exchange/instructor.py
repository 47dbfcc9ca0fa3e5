"""nbgrader's commands for instructors: release labs, collect, release feedback."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.exchange.default import (
    ExchangeCollect,
    ExchangeReleaseAssignment,
    ExchangeReleaseFeedback,
)
from nbgrader.utils import parse_utc

from distlab.exchange import manifest as manifests
from distlab.exchange import names
from distlab.exchange.base import HTTPExchange
from distlab.exchange.client import Client, ExchangeFailed
from distlab.exchange.store import page_of
from distlab.processes import temporary


class ReleaseAssignment(HTTPExchange, ExchangeReleaseAssignment):
    """Hand out a lab."""

    def init_dest(self) -> None:
        self.dest_path = f"{self.course}/{self.coursedir.assignment_id}"

    def copy_files(self) -> None:
        lab = str(self.coursedir.assignment_id)
        with temporary.folder("release-") as folder:
            copy = folder / lab
            self.do_copy(self.src_path, str(copy))
            with self.service() as client:
                client.release(
                    self.course, lab, copy, manifests.of_folder(copy), bool(self.force)
                )  # fmt: skip
        self.log.info("Released as: %s %s", self.course, lab)


class ReleaseFeedback(HTTPExchange, ExchangeReleaseFeedback):
    """Hand out feedback pages. Each is named after its submission's secret, and the exchange gives
    it to that submission's student alone.
    """

    def init_dest(self) -> None:
        self.dest_path = self.course

    def copy_files(self) -> None:
        excluded = set((self.coursedir.student_id_exclude or "").split(","))
        with temporary.folder("feedback-") as folder:
            (pages := folder / "pages").mkdir()
            for source in self._sources():
                if self._student(source) not in excluded:
                    self._pages(source, pages)
            files = manifests.of_folder(pages)
            if files.files:
                with self.service() as client:
                    client.release_feedback(self.course, pages, files)
        self.log.info("Released feedback: %s pages", len(files.files))

    def _sources(self) -> list[Path]:
        """The folders STUDENT/ASSIGNMENT of feedback that was generated."""
        pattern = Path(self.src_path)
        top = Path(pattern.anchor)
        return sorted(top.glob(str(pattern.relative_to(top))))

    def _student(self, source: Path) -> str:
        return source.parent.name

    def _pages(self, source: Path, to: Path) -> None:
        """Copy a submission's pages into a folder, under the names that they are handed out by."""
        try:
            secret = (source / "submission_secret.txt").read_text("ascii").strip()
        except (OSError, ValueError):
            self.log.error("%s has no secret: its feedback cannot be released", source)
            return
        for page in sorted(source.glob("*.html")):
            shutil.copyfile(page, to / page_of(secret, page.stem))
            self.log.info("Releasing feedback on %s's %s", self._student(source), page.stem)


class Collect(HTTPExchange, ExchangeCollect):
    """Collect what was handed in: the last of each student, or the last before the due date.

    Attributes:
        failed: the students whose submissions could not be collected, once all others were; empty
            when collecting ended before, as by an interrupt.
    """

    failed: list[str]

    def init_src(self) -> None:
        lab, wanted = self.coursedir.assignment_id, self.coursedir.student_id or "*"
        with self.service() as client:
            found = [
                {**one, "username": one["student"], "timestamp": parse_utc(one["when"])}
                for one in client.submissions(self.course, everybody=True)
                if one["lab"] == lab and wanted in ("*", one["student"])
            ]
        students: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for one in sorted(found, key=lambda one: one["timestamp"], reverse=True):
            students[one["username"]].append(one)
        due = self._due() if self.before_duedate else None
        self.src_records = [
            next((one for one in newest_first if due and one["timestamp"] <= due), newest_first[0])
            for newest_first in students.values()
        ]

    def _due(self) -> Any:
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as book:
            try:
                return book.find_assignment(self.coursedir.assignment_id).duedate
            except MissingEntry:
                return None

    def copy_files(self) -> None:
        """One at a time: one that cannot be collected does not hold up the others."""
        self.failed = []
        failed: list[str] = []
        with self.service() as client:
            for record in self.src_records:
                place = self._place(record)
                if not self._is_wanted(record, place):
                    continue
                try:
                    self._collected(client, record, place)
                except (ExchangeFailed, OSError) as error:
                    failed.append(record["username"])
                    self.log.error("%s cannot be collected: %s", record["name"], error)
                else:
                    self.log.info("Collected: %s %s", record["username"], record["lab"])
        self.failed = failed
        if failed:
            raise ExchangeFailed(f"not collected, see the log: {', '.join(failed)}")

    def _place(self, record: dict[str, Any]) -> Path:
        student, lab = names.person(record["username"]), names.lab(record["lab"])
        folder = self.coursedir.submitted_directory
        return Path(self.coursedir.format_path(folder, student, lab))

    def _is_wanted(self, record: dict[str, Any], place: Path) -> bool:
        if not place.is_dir():
            return True
        there, when = self._time_of(place), record["timestamp"]
        if self.before_duedate:
            return bool(there != when)
        return bool(self.update and (there is None or when > there))

    def _time_of(self, place: Path) -> Any:
        """When the submission that is there was handed in; `None` where that is not known."""
        try:
            return self.coursedir.get_existing_timestamp(str(place))
        except (OSError, ValueError, AttributeError):  # the last over what is no time: nbgrader's
            return None

    def _collected(self, client: Client, record: dict[str, Any], place: Path) -> None:
        """Fetch a submission, and put it in its place once all of it is here."""
        place.parent.mkdir(parents=True, exist_ok=True)
        files, secret = client.submission(self.course, record["name"])
        above = place.parent.parent  # on the same disk, and no submission's folder
        with tempfile.TemporaryDirectory(prefix=".collecting-", dir=above) as folder:
            new = Path(folder, "new")
            self.fetched(client, ("submissions", self.course, record["name"]), files, new)
            (new / "timestamp.txt").write_text(record["when"], "ascii")
            (new / "submission_secret.txt").write_text(secret, "ascii")
            if place.exists():
                os.rename(place, Path(folder, "old"))
            os.rename(new, place)
