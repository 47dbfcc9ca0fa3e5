"""The files of a submission or a lab: their paths, sizes and digests."""

from __future__ import annotations

import hashlib
import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from distlab.exchange import names
from distlab.exchange.limits import Limits
from distlab.exchange.names import Refused
from distlab.processes import untrusted

_EMPTY = hashlib.sha256().hexdigest()


@dataclass(frozen=True)
class File:
    """A file: its path with slashes, its bytes, and their SHA-256."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """Files, sorted by path."""

    files: tuple[File, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def sizes(self) -> dict[str, int]:
        """{digest: size}, each content once."""
        return {file.sha256: file.size for file in self.files}

    @property
    def notebooks(self) -> list[str]:
        """The notebooks at the top, without .ipynb."""
        tops = [file.path for file in self.files if "/" not in file.path]
        return [path.removesuffix(".ipynb") for path in tops if path.endswith(".ipynb")]

    def as_json(self) -> list[dict[str, Any]]:
        return [asdict(file) for file in self.files]


def parse(content: object, limits: Limits) -> Manifest:
    """A manifest that somebody has sent.

    Raises:
        Refused: it is none, or asks for too much.
    """
    if not isinstance(content, Sequence) or isinstance(content, str):
        raise Refused("the list of files is missing")
    if len(content) > limits.files:
        raise Refused(f"these are {len(content)} files: at most {limits.files} are taken")
    manifest = Manifest(tuple(sorted(map(_file, content), key=lambda file: file.path)))
    check(manifest, limits)
    return manifest


def check(manifest: Manifest, limits: Limits) -> None:
    """Raises:
    Refused: two files are in each other's way, or there is too much.
    """
    if not manifest.files:
        raise Refused("there is no file")
    if len(manifest.files) > limits.files:
        raise Refused(f"these are {len(manifest.files)} files: at most {limits.files} are taken")
    seen: dict[str, str] = {}
    for file in manifest.files:
        if file.size > limits.file:
            raise Refused(
                f"{names.shown(file.path)} has {file.size:,} bytes: a file may have "
                f"{limits.file:,}; leave it out"
            )
        same = unicodedata.normalize("NFC", file.path)
        if same in seen:
            raise Refused(f"{names.shown(file.path)} is there twice")
        seen[same] = file.path
    for file in manifest.files:
        above = unicodedata.normalize("NFC", file.path).split("/")
        for count in range(1, len(above)):
            if "/".join(above[:count]) in seen:
                raise Refused(f"{names.shown(file.path)} lies below what is a file itself")
    if manifest.size > limits.submission:
        raise Refused(
            f"these are {manifest.size:,} bytes: {limits.submission:,} are taken at once; "
            "leave out what was not asked for, data sets say"
        )
    contents: dict[str, int] = {}
    for file in manifest.files:
        if contents.setdefault(file.sha256, file.size) != file.size:
            raise Refused("two files of one digest have two sizes")


def _file(content: object) -> File:
    if not isinstance(content, Mapping):
        raise Refused("the list of files is not as it should be")
    size = content.get("size")
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 50:
        raise Refused("a file has no size")
    file = File(names.path(content.get("path")), size, names.digest(content.get("sha256")))
    if not size and file.sha256 != _EMPTY:
        raise Refused("an empty file has another digest")
    return file


def of_folder(folder: Path) -> Manifest:
    """The plain files in a folder that nobody else changes; no links are followed."""
    found = [
        File(path.relative_to(folder).as_posix(), path.stat().st_size, sha256(path))
        for path in plain_files(folder)
    ]
    return Manifest(tuple(sorted(found, key=lambda file: file.path)))


def plain_files(folder: Path) -> Iterator[Path]:
    """The plain files below a folder; links and anything else are left out."""
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.is_dir(follow_symlinks=False):
            yield from plain_files(Path(entry.path))
        elif entry.is_file(follow_symlinks=False):
            yield Path(entry.path)


def sha256(path: Path) -> str:
    """A plain file's digest."""
    found = hashlib.sha256()
    with untrusted.plain_file(path) as file:
        while data := file.read(untrusted.CHUNK):
            found.update(data)
    return found.hexdigest()
