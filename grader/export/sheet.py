"""Delimited files of other systems: read whole within limits, written whole or not at all."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from distlab.records import redaction
from grader import writing
from grader.reports.spreadsheet import inert

LARGEST = 20_000_000  # bytes; ten thousand students with a hundred columns have half of that
LONGEST_NAME = 80  # characters of a name that are shown
DELIMITERS = ",;\t"
# identifiers cannot call anything, whatever they begin with: they stay as they are
_HARMLESS = re.compile(r"[A-Za-z0-9._@+-]*")
#: numbers, and the dash that Moodle exports and takes in again for "no grade": with an apostrophe
#: before it, it would refuse the whole file
_NUMBER = re.compile(r"[+-]?\d+([.,]\d+)?|-")


class Unusable(ValueError):
    """A file, or a word of the command, cannot be used; the message says what to do instead."""

    exit_status = 2


@dataclass
class Sheet:
    """A table with named columns.

    Args:
        rows: each as long as the header.
        bom: the file begins with a byte order mark, and so does what is made of it.
    """

    header: list[str]
    rows: list[list[str]]
    delimiter: str = ","
    bom: bool = False

    def places(self, *names: str) -> list[int]:
        """Where columns of these names are; case and spaces around a name do not count."""
        wanted = {plain(name) for name in names}
        return [place for place, head in enumerate(self.header) if plain(head) in wanted]


def folded(name: str) -> str:
    """A name without what does not tell two apart: case, and how Unicode composes its letters."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def plain(name: str) -> str:
    """A name as names of columns are compared."""
    return folded(" ".join(name.split()))


def shown(name: str) -> str:
    """A stranger's text for use in a sentence: one line, not too long."""
    said = redaction.shown(" ".join(name.split()))
    return f"{said[:LONGEST_NAME]}…" if len(said) > LONGEST_NAME else said


def listed(names: Iterable[str]) -> str:
    return ", ".join(shown(name) for name in names)


def cell(said: str) -> str:
    """A cell that no spreadsheet takes for a formula; numbers stay numbers."""
    return said if _NUMBER.fullmatch(said) else inert(said)


def key(said: str) -> str:
    """As `cell`, but an identifier by which another system finds a student stays as it is."""
    return said if _HARMLESS.fullmatch(said) else cell(said)


def read(path: Path, known: Sequence[str], what: str, then: str = "") -> Sheet:
    """The table in a file.

    Args:
        known: names of columns, some of which it has: they show which delimiter it uses.
        what: what the file should be, for the sentence that says that it is not.
        then: the end of that sentence.

    Raises:
        Unusable: it cannot be read, or is another file.
    """
    text, bom = _text(path)
    first = re.split(r"[\r\n]", text, maxsplit=1)[0]
    counts = {
        delimiter: len(Sheet(_heads(first, delimiter), []).places(*known))
        for delimiter in DELIMITERS
    }
    delimiter = max(counts, key=lambda one: counts[one])
    if not counts[delimiter]:
        raise Unusable(
            f"{shown(path.name)} is not {what}: none of its columns is {listed(known)}{then}"
        )
    rows = _rows(path, text, delimiter)
    header = [head.strip() for head in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) > len(header) and any(row[len(header) :]):
            raise Unusable(
                f"{shown(path.name)} has {len(row)} cells in row {number} and {len(header)} in its "
                "first one: a quote is missing or the file was cut, so export it anew"
            )
    width = len(header)
    rest = [[*row, *[""] * width][:width] for row in rows[1:] if any(row)]
    return Sheet(header, rest, delimiter, bom)


def _text(path: Path) -> tuple[str, bool]:
    name = shown(path.name)
    try:
        if path.exists() and not path.is_file():
            raise Unusable(f"{name} is not a file: name the CSV file that was exported")
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise Unusable(f"{shown(str(path))} cannot be read: {error.strerror}") from error
    if len(content) > LARGEST:
        raise Unusable(
            f"{name} has more than {LARGEST // 1_000_000} MB: this is no list of a class"
        )
    if content.startswith((b"PK\x03\x04", b"\xd0\xcf\x11\xe0")):
        raise Unusable(f"{name} is a workbook and no CSV file: export it as CSV")
    wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = content.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unusable(f"{name} is not text in UTF-8: save it as CSV UTF-8") from error
    if "\0" in text or not text.strip():
        raise Unusable(f"{name} is {'empty' if not text.strip() else 'no text'}: export it as CSV")
    return text, content.startswith(codecs.BOM_UTF8)


def _heads(line: str, delimiter: str) -> list[str]:
    with contextlib.suppress(csv.Error, StopIteration):
        return next(csv.reader([line], delimiter=delimiter, skipinitialspace=delimiter != "\t"))
    return []


def _rows(path: Path, text: str, delimiter: str) -> list[list[str]]:
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, strict=True,
        skipinitialspace=delimiter != "\t",
    )  # fmt: skip
    try:
        return list(reader)
    except csv.Error as error:
        raise Unusable(
            f"{shown(path.name)}, line {reader.line_num}: this is not CSV ({error}): export it anew"
        ) from error


def write(path: Path, sheet: Sheet) -> None:
    """Write a table, in place of a file that is there.

    Raises:
        Unusable: what is there is no file.
        NotWritten
    """
    path = path.resolve()  # what a link leads to is written, and the link stays
    with writing.reported(path):  # its name is too long, or its folder may not be searched
        is_other = path.exists() and not path.is_file()
    if is_other:
        raise Unusable(f"{shown(str(path))} is not a file: name one to write to with --out")
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=sheet.delimiter, lineterminator="\n")
    writer.writerows([sheet.header, *sheet.rows])
    writing.whole(path, out.getvalue().encode("utf-8-sig" if sheet.bom else "utf-8", "replace"))
