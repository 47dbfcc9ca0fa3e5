"""Collect from an exchange that students write to by hand as well: each what is theirs, no links.

nbgrader's own collecting follows links with the grader's rights, so that a link to a solution in a
submission is graded as the student's answer, and takes any submission under any name.
"""

from __future__ import annotations

import os
import pwd
import stat
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeCollect
from nbgrader.utils import ignore_patterns

_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class Collect(ExchangeCollect):
    """nbgrader's collecting, of what belongs to the student who is said to have handed it in."""

    def init_src(self) -> None:
        super().init_src()
        for record in self.src_records:
            if not self._is_own(record):
                self.log.error(
                    "%s is left where it is: it does not belong to %s",
                    record["filename"], record["username"],
                )  # fmt: skip
        self.src_records = [record for record in self.src_records if self._is_own(record)]

    def _sort_by_timestamp(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The newest first; another's never stands in the way of a student's own."""
        own = [record for record in records if self._is_own(record)]
        return super()._sort_by_timestamp(own or records)

    def _is_own(self, record: dict[str, Any]) -> bool:
        try:
            owner = pwd.getpwnam(record["username"]).pw_uid
        except KeyError:
            return False
        found = os.lstat(os.path.join(self.inbound_path, record["filename"]))
        return stat.S_ISDIR(found.st_mode) and found.st_uid == owner

    def do_copy(self, src: str, dest: str, log: Any = None) -> None:
        """Copy a submission's own plain files, whatever its owner does meanwhile."""
        ignored = ignore_patterns(self.coursedir.ignore, self.coursedir.include)
        room = 1000 * self.coursedir.max_dir_size
        top = os.open(src, _READ | os.O_DIRECTORY)
        try:
            owner = os.fstat(top).st_uid
            Path(dest).mkdir(parents=True)
            for folder, folders, names, handle in os.fwalk(".", dir_fd=top, follow_symlinks=False):
                where = Path(dest) / folder
                for name in {*ignored(folder, folders)} | {
                    one for one in folders if stat.S_ISLNK(_status(one, handle))
                }:
                    folders.remove(name)
                for name in folders:
                    (where / name).mkdir()
                for name in set(names) - set(ignored(folder, names)):
                    room -= self._copied(handle, name, owner, where / name, room)
        finally:
            os.close(top)

    def _copied(self, folder: int, name: str, owner: int, to: Path, room: int) -> int:
        """Copy one file out of an open folder; returns its bytes."""
        try:
            handle = os.open(name, _READ, dir_fd=folder)
        except OSError as error:  # a link, or gone
            self.log.warning("%s is left out: %s", name, error.strerror)
            return 0
        with open(handle, "rb") as file:
            about = os.fstat(handle)
            if not stat.S_ISREG(about.st_mode) or about.st_uid != owner:
                self.log.warning("%s is left out: no plain file of the student's own", name)
                return 0
            if about.st_size > min(room, 1000 * self.coursedir.max_file_size):
                self.log.warning(
                    "%s is left out: %s bytes, more than c.CourseDirectory.max_file_size or "
                    "max_dir_size allows", name, about.st_size,
                )  # fmt: skip
                return 0
            return to.write_bytes(file.read(about.st_size))


def _status(name: str, folder: int) -> int:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return stat.S_IFLNK
