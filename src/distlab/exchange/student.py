"""nbgrader's commands for students: fetch a lab, hand it in, fetch feedback."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange.default import (
    ExchangeFetchAssignment,
    ExchangeFetchFeedback,
    ExchangeSubmit,
)
from traitlets.config import Config

from distlab.exchange import manifest as manifests
from distlab.exchange import names
from distlab.exchange.base import HTTPExchange
from distlab.exchange.client import Client, ExchangeFailed, locked
from distlab.exchange.manifest import Manifest


class FetchAssignment(HTTPExchange, ExchangeFetchAssignment):
    """Fetch a lab. Its folder appears when all of it is here."""

    def init_src(self) -> None:
        """Nothing to look for: the service knows which labs there are."""
        self.src_path = f"{self.course}/{self.coursedir.assignment_id}"

    def copy_files(self) -> None:
        lab = str(self.coursedir.assignment_id)
        place = Path(self.dest_path)
        place.parent.mkdir(parents=True, exist_ok=True)
        with self.service() as client:
            files = client.lab(self.course, lab)
            where = ("labs", self.course, lab)
            if place.is_dir():  # asked to replace what is missing
                missing = [one for one in files.files if not (place / one.path).exists()]
                for one in missing:
                    self.log.warning("Replacing missing file '%s'", one.path)
                self.fetched(client, where, Manifest(tuple(missing)), place)
            else:
                with tempfile.TemporaryDirectory(prefix=f".{lab}-", dir=place.parent) as new:
                    self.fetched(client, where, files, Path(new, lab))
                    os.rename(Path(new, lab), place)
            self.keep_own_inputs(client, self.course)
        self.log.info("Fetched as: %s %s", self.course, lab)


class SecondLooks(HTTPExchange):
    """Hands over requests for second looks, for `distlab ask`."""

    def hand_over(self, content: bytes) -> None:
        """Raises:
        ExchangeFailed: the exchange does not take it, or nobody says which course is meant.
        """
        with self.service() as client:
            course = str(self.coursedir.course_id) or _only_course(client)
            try:
                client.ask_second_look(course, content.decode(), secrets.token_hex(16))
            except ExchangeFailed as error:
                if error.status != HTTPStatus.NOT_FOUND:
                    raise
                said = f"you take no course {names.shown(course)}: name yours with --course"
                raise ExchangeFailed(said, error.status) from error


class Submit(HTTPExchange, ExchangeSubmit):
    """Hand in a lab. If this is killed on the way and the same files are handed in again, they
    count as handed in once, and only what the exchange lacks is sent.
    """

    @classmethod
    def second_looks(cls, config: Config, course: str) -> SecondLooks:
        """What `distlab ask` hands requests for second looks to; it looks for it here."""
        made = SecondLooks(config=config, coursedir=CourseDirectory(config=config))
        if course:
            made.coursedir.course_id = course
        return made

    def init_dest(self) -> None:
        """The service gives a submission its name and its time."""

    def copy_files(self) -> None:
        lab = str(self.coursedir.assignment_id)
        with self._alone(lab) as folder, self.service() as client:
            files = self._snapshot(folder / "files")
            self._compare(client.lab(self.course, lab).notebooks, files.notebooks)
            made = client.hand_in(self.course, lab, folder / "files", files, _key(folder, files))
            self._keep(folder, made)
        self.timestamp = made["when"]
        self.log.info("Submitted as: %s %s %s", self.course, lab, made["when"])

    @contextlib.contextmanager
    def _alone(self, lab: str) -> Iterator[Path]:
        """The folder for what is being handed in, held by one program at a time."""
        folder = self.kept / ".handing-in" / lab
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "lock").open("a") as lock:
            if not locked(lock):
                raise ExchangeFailed(f"{lab} is being handed in already: wait for it")
            yield folder

    def _snapshot(self, folder: Path) -> Manifest:
        """Copy the student's folder as nbgrader does, without files that cannot be handed in."""
        shutil.rmtree(folder, ignore_errors=True)
        try:
            self.do_copy(self.src_path, str(folder))
        except (OSError, RuntimeError) as error:
            raise ExchangeFailed(f"{self.src_path} cannot be handed in: {error}") from error
        for name in names.RESERVED:  # the exchange writes these itself; here they may be folders
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).unlink(missing_ok=True)
        for path in list(manifests.plain_files(folder)):
            name = path.relative_to(folder).as_posix()
            try:
                names.path(name)
            except names.Refused as refused:
                self.log.warning("Left out: %s", refused)
                path.unlink()
        return manifests.of_folder(folder)

    def _compare(self, released: list[str], submitted: list[str]) -> None:
        """Warn of notebooks that are missing, or with `strict` refuse to hand in without them."""
        if missing := sorted(set(released) - set(submitted)):
            said = f"There is no notebook {', '.join(missing)} in {self.src_path}"
            if self.strict:
                raise ExchangeFailed(f"{said}: nothing was handed in")
            self.log.warning(said)
        if extra := sorted(set(submitted) - set(released)):
            self.log.warning("Handed in beside what was asked for: %s", ", ".join(extra))

    def _keep(self, folder: Path, made: dict[str, Any]) -> None:
        """Keep the copy of what was handed in where nbgrader keeps such copies."""
        kept = folder / "files"
        (kept / "timestamp.txt").write_text(made["when"], "utf-8")
        (kept / "submission_secret.txt").write_text(made["secret"], "ascii")
        place = self.kept / f"{made['student']}+{made['lab']}+{made['when']}"
        if not place.exists():
            os.rename(kept, place)
        (folder / "key.json").unlink(missing_ok=True)


class FetchFeedback(HTTPExchange, ExchangeFetchFeedback):
    """Fetch the feedback pages on one's submissions."""

    def init_src(self) -> None:
        self.src_path = self.course

    def copy_files(self) -> None:
        lab = str(self.coursedir.assignment_id)
        with self.service() as client:
            for one in client.submissions(self.course):
                if one["lab"] != lab:
                    continue
                if not one["feedback"]:
                    self.log.warning("No feedback yet on %s of %s", lab, one["when"])
                where = ("submissions", self.course, one["name"], "feedback")
                for notebook, page in one["feedback"].items():
                    to = Path(self.dest_path, one["when"], f"{notebook}.html")
                    client.fetch(where, page["sha256"], page["size"], to)
                    self.log.info("Fetched feedback: %s", to)


def _only_course(client: Client) -> str:
    courses = sorted({str(one["course"]) for one in client.labs()})
    if not courses:
        said = "no course of yours has handed anything out: name it with --course"
        raise ExchangeFailed(said, HTTPStatus.NOT_FOUND)
    if len(courses) > 1:
        said = f"which course? Say --course with one of {', '.join(courses)}"
        raise ExchangeFailed(said, HTTPStatus.NOT_FOUND)
    return courses[0]


def _key(folder: Path, files: Manifest) -> str:
    """The key of this hand-in: that of the last one, if that was not completed and the files are
    the same.
    """
    path = folder / "key.json"
    listed = json.dumps(files.as_json(), sort_keys=True)
    digest = hashlib.sha256(listed.encode("utf-8", "surrogatepass")).hexdigest()
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
        there = json.loads(path.read_text("ascii"))
        if there["digest"] == digest:
            return names.key(there["key"])
    key = secrets.token_hex(16)
    new = path.with_suffix(".new")
    with new.open("w") as file:
        json.dump({"digest": digest, "key": key}, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, path)
    return key
