"""Collect from an exchange folder into which students can write whatever they like.

nbgrader's own collecting follows links with the grader's rights (a link to a solution would be
graded as the student's answer), takes a submission under any student's name, and believes the time
that the student's program wrote. Here only plain files are copied, a submission counts for the
student who owns it, and its time is the ctime of its files: students can choose neither owner nor
ctime, which the kernel sets by its own clock whenever content, name or rights change.
"""

from __future__ import annotations

import collections
import contextlib
import datetime
import itertools
import logging
import os
import shutil
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from io import FileIO
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect

from distlab.processes import untrusted
from distlab.processes.disk_room import FULL
from distlab.records.redaction import shown
from grader import writing
from grader.judging import handed_in
from grader.plugins.exchanges import is_accounts
from grader.writing import NotWritten

#: seconds that handing in may take: the student's program writes down the time before it copies
COPYING = 60.0
MOST_FILES = 10_000  # that are looked at of a submission, folders included
MOST_LOOKED = 100_000  # of all submissions of an account together, to find the newest
DEEPEST = 10  # levels of folders
_FORMAT = "%Y-%m-%d %H:%M:%S.%f UTC"


class Collect(ExchangeCollect):
    """nbgrader's collecting, of what belongs to the student who is said to have handed it in."""

    src_records: list[dict[str, Any]]

    def init_src(self) -> None:
        self._looked: dict[int, int] = collections.Counter()  # by owner
        super().init_src()
        for record in self.src_records:
            if not self._is_own(record):
                self.log.error(
                    "%s is left where it is: it does not belong to %s",
                    shown(record["filename"]), shown(record["username"]),
                )  # fmt: skip
        self.src_records = [record for record in self.src_records if self._is_own(record)]

    def _path_to_record(self, path: str) -> dict[str, Any]:
        """nbgrader's record of a submission, with the time at which its files were there."""
        name = os.path.basename(path)
        try:
            with self._submission(name) as found:
                # an account with a thousand submissions of ten thousand files must not hold up the
                # others: beyond the limit, the time of the folder itself counts until it is copied
                if self._looked[found.owner] < MOST_LOOKED:
                    self._looked[found.owner] += found.look()
                when = found.when
        except OSError:  # a link, or gone, or not for us to read
            when = datetime.datetime.min
        return {"username": name.rsplit("+", 3)[0], "filename": name, "timestamp": when}

    def _sort_by_timestamp(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The newest first. A submission that another account left under the student's name never
        hides the student's own.
        """
        own = [record for record in records if self._is_own(record)]
        newest: list[dict[str, Any]] = super()._sort_by_timestamp(own or records)
        return newest

    def _is_own(self, record: dict[str, Any]) -> bool:
        try:
            with self._submission(record["filename"]) as found:
                return is_accounts(record["username"], found.owner)
        except OSError:
            return False

    def copy_files(self) -> None:
        """One at a time: one that cannot be copied does not hold up the others. Of two commands
        that collect at the same time, the second waits until the first has ended.
        """
        if not self.src_records:
            super().copy_files()
            return
        with contextlib.ExitStack() as alone:
            # a file that another account has made, or a full disk, keeps nobody from collecting
            with contextlib.suppress(NotWritten):
                alone.enter_context(writing.locked(self._place(".").parent / ".collect.lock"))
            self._copy_files()

    def _copy_files(self) -> None:
        full = None
        for record in list(self.src_records):
            self.src_records = [record]
            try:
                self._put_back(record["username"])
                if not self._stays_as_it_is(record["username"]):
                    self._collect(record)
            except (OSError, ValueError) as error:
                self.log.error("%s cannot be collected: %s", shown(record["filename"]), error)
                if isinstance(error, OSError) and error.errno in FULL:
                    full = error
        if full is not None:  # which is no student's fault: collecting has to be done again
            raise NotWritten.of(Path(self.coursedir.root), full) from full

    def _place(self, student: str) -> Path:
        folder, lab = self.coursedir.submitted_directory, self.coursedir.assignment_id
        return Path(self.coursedir.format_path(folder, student, lab))

    def _put_back(self, student: str) -> None:
        """Where a crash has left nothing but the earlier submission, beside its place, it has that
        again. One that a crash has left beside the new one goes: nobody is to be given it later.
        """
        place = self._place(student)
        earlier = _beside(place, "old")
        if place.exists():
            shutil.rmtree(earlier, ignore_errors=True)
        elif earlier.is_dir():
            earlier.rename(place)

    def _collect(self, record: dict[str, Any]) -> None:
        """As nbgrader does, which removes the earlier submission before it copies the new one."""
        student, lab = record["username"], self.coursedir.assignment_id
        place, when = self._place(student), record["timestamp"]
        if not place.is_dir():
            self.log.info("Collecting submission: %s %s", student, lab)
        else:
            before = self.coursedir.get_existing_timestamp(str(place))
            newer = self.update and (before is None or when > before)
            if not newer and not (self.before_duedate and before != when):
                said = "No newer submission to collect" if self.update else (
                    "Submission already exists, use --update to update"
                )  # fmt: skip
                self.log.info("%s: %s %s", said, student, lab)
                return
            self.log.info("Updating submission: %s %s", student, lab)
        self.do_copy(os.path.join(self.inbound_path, record["filename"]), str(place))

    def _stays_as_it_is(self, student: str) -> bool:
        """Is a submission there that was put there by hand, with something else where its time
        should be, and is not to be replaced? nbgrader would fail over it, and end. If it is to be
        replaced, it is like one without a time from now on.
        """
        place, lab = self._place(student), self.coursedir.assignment_id
        if not place.is_dir() or handed_in.timestamp(place):
            return False
        if self.update or self.before_duedate:
            (place / "timestamp.txt").unlink(missing_ok=True)
            return False
        self.log.info("Submission already exists, use --update to update: %s %s", student, lab)
        return True

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy the plain files of a submission, whatever its owner does meanwhile, and note its
        time. It takes the place of an earlier one once it is whole: when that fails, nothing of it
        is left, and the earlier one stays.
        """
        place = Path(dest)
        made, earlier = _beside(place, "new"), _beside(place, "old")
        shutil.rmtree(made, ignore_errors=True)  # what a crash has left
        try:
            self._copy(src, made)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise
        if place.exists():
            shutil.rmtree(earlier, ignore_errors=True)
            place.rename(earlier)
        try:
            made.rename(place)
        except OSError:
            shutil.rmtree(made, ignore_errors=True)
            if earlier.exists():
                earlier.rename(place)
            raise
        shutil.rmtree(earlier, ignore_errors=True)

    def _copy(self, src: str, dest: Path) -> None:
        room = 1000 * self.coursedir.max_dir_size
        dest.mkdir(parents=True)
        with self._submission(os.path.basename(src)) as found:
            for place, file in found.files(self.log):
                size = os.fstat(file.fileno()).st_size
                if size > min(room, 1000 * self.coursedir.max_file_size):
                    self.log.warning(
                        "%s is left out: %s bytes, more than c.CourseDirectory.max_file_size or "
                        "max_dir_size allows", shown(str(place)), size,
                    )  # fmt: skip
                    continue
                room -= _copied(file, dest / place, size)
            if found.when != found.said:
                self.log.warning("%s was handed in at %s UTC", shown(found.name), found.when)
            (dest / "timestamp.txt").write_text(found.when.strftime(_FORMAT), "ascii")

    def _submission(self, name: str) -> Submission:
        with untrusted.Folder.at(self.inbound_path) as inbound:
            return Submission(name, inbound.folder(name), self._is_ignored)

    def _is_ignored(self, name: str, is_file: bool) -> bool:
        if any(fnmatch(name, pattern) for pattern in self.coursedir.ignore):
            return True
        return is_file and not any(fnmatch(name, pattern) for pattern in self.coursedir.include)


class Submission:
    """A folder of the exchange's inbound, held open. A context manager.

    Args:
        name: STUDENT+ASSIGNMENT+WHEN+RANDOM.
        ignored: (name, is it a file?) → is it to be left out?
    """

    def __init__(
        self, name: str, folder: untrusted.Folder, ignored: Callable[[str, bool], bool]
    ) -> None:
        self.name, self._folder, self._ignored = name, folder, ignored
        self.owner, self._changed = os.fstat(folder.handle).st_uid, _changed(folder.handle)
        self._names = 0
        self.said = handed_in.parsed(name.rsplit("+", 3)[2])

    @property
    def when(self) -> datetime.datetime:
        """When it was handed in, in UTC: when the last of the files that were looked at was
        changed, or the time that the student's program gave, if that is at most a minute earlier.
        """
        changed = datetime.datetime.fromtimestamp(self._changed, datetime.timezone.utc)
        changed = changed.replace(tzinfo=None)
        least = changed - datetime.timedelta(seconds=COPYING)
        return self.said if self.said and least <= self.said <= changed else changed

    def look(self) -> int:
        """Look at all files, for `when`; returns how many names were looked at."""
        for _ in self.files():
            pass
        return self._names

    def files(self, log: logging.Logger | None = None) -> Iterator[tuple[Path, FileIO]]:
        """The owner's plain files, with their paths in the submission; the rest is logged."""
        names = itertools.count()
        for place, file in self._files(self._folder, Path(), names):
            if file is not None:
                yield place, file
            elif log:
                said = shown(str(place))
                log.warning("%s is left out: no plain file of the student's own", said)
        self._names = next(names)
        if self._names > MOST_FILES and log:
            said = shown(self.name)
            log.warning("%s has more than %s files: the rest is left out", said, MOST_FILES)

    def _files(
        self, folder: untrusted.Folder, place: Path, names: Iterator[int]
    ) -> Iterator[tuple[Path, FileIO | None]]:
        for name in folder.names():
            if next(names) >= MOST_FILES:
                return
            try:
                with untrusted.plain_file(name, folder=folder.handle) as file:
                    if self._ignored(name, True):
                        continue
                    yield place / name, file if self._is_owners(file.fileno()) else None
                    self._note(file.fileno())
            except untrusted.NotPlain:
                yield from self._below(folder, place / name, names)
            except OSError:  # gone, or not for us to read
                yield place / name, None

    def _below(self, folder: untrusted.Folder, place: Path, names: Iterator[int]):
        """What is in a folder, if it is one."""
        if self._ignored(place.name, False):
            return
        if len(place.parts) > DEEPEST:
            yield place, None
            return
        try:
            with folder.folder(place.name) as below:
                self._note(below.handle)
                yield from self._files(below, place, names)
        except OSError:
            yield place, None

    def _is_owners(self, handle: int) -> bool:
        return os.fstat(handle).st_uid == self.owner

    def _note(self, handle: int) -> None:
        self._changed = max(self._changed, _changed(handle))

    def __enter__(self) -> Submission:
        return self

    def __exit__(self, *exc) -> None:
        self._folder.close()


def _beside(place: Path, what: str) -> Path:
    """A folder in the student's own, which nobody takes for a lab's."""
    return place.with_name(f".{place.name}.{what}")


def _changed(handle: int) -> float:
    return os.fstat(handle).st_ctime


def _copied(file: FileIO, to: Path, size: int) -> int:
    """Copy at most so many bytes of an open file; returns how many there were."""
    to.parent.mkdir(parents=True, exist_ok=True)
    left = size
    with to.open("wb") as copy:
        while left and (data := file.read(min(left, untrusted.CHUNK))):
            left -= copy.write(data)
    return size - left
