"""The text of a notebook file without the outputs of its cells, which are dropped while it is read.

Outputs can be most of a file (pictures, tables), and nobody grades them. They pass through a buffer
of one megabyte and are neither kept nor parsed, so that what reading takes depends on the rest
alone. Where a value ends can be told without a JSON parser, from brackets and quotes; NumPy finds
these in all bytes of a chunk at once, so that time grows with the number of bytes, whatever they
are. (Python's own parser takes what is left: it accepts the NaN that notebooks may hold, which
incremental parsers such as ijson refuse.)
"""

from __future__ import annotations

import codecs
import io
import itertools
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

CHUNK = 1 << 20  # bytes that are looked at together
DROPPED = (b"outputs", b"attachments")  # what of a cell is not kept
_OBJECT, _LIST = b"{["
_OPENING, _CLOSING = b"{[", b"}]"
_QUOTE, _BACKSLASH, _COLON = b'"\\:'
#: what is open around a cell's keys: in format 4, and in a worksheet of the formats before
_CELLS = ([_OBJECT, _LIST, _OBJECT], [_OBJECT, _LIST, _OBJECT, _LIST, _OBJECT])
_KEY = re.compile(rb'"(?:%s)"\s*$' % b"|".join(DROPPED))
_LONGEST_KEY = 64  # bytes before a colon in which a key is looked for, white space included
_WINDOW = 64  # tokens that are looked at in one go
_STRUCTURE = np.zeros(256, bool)
_STRUCTURE[list(b"{}[]:,")] = True
_DEPTH = np.zeros(256, np.int8)
_DEPTH[list(_OPENING)], _DEPTH[list(_CLOSING)] = 1, -1


class TooMuch(ValueError):
    """A notebook has more than may be read of it. `what` is "bytes", "kept" or "values"."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what


@dataclass
class Room:
    """What may still be read; reading uses it up.

    Args:
        bytes: of files, outputs included.
        kept: bytes without outputs.
        values: brackets, commas and colons of JSON in these; each value takes dozens of bytes when
            it is parsed.
    """

    bytes: int
    kept: int
    values: int

    def take(self, what: str, number: int) -> None:
        """Use up some room.

        Raises:
            TooMuch: there is not that much left.
        """
        left = getattr(self, what) - number
        setattr(self, what, max(left, 0))
        if left < 0:
            raise TooMuch(what)


def without_outputs(file: io.RawIOBase, room: Room) -> bytearray:
    """The file's text, as UTF-8, with `[]` or `{}` in place of what `DROPPED` names in its cells.

    A file that is not JSON gives text that is not JSON, unless the mistake is in what is dropped.

    Raises:
        TooMuch: there is no room for it.
        UnicodeDecodeError: it begins like text in UTF-16 or UTF-32 and is not.
    """
    scan = _Scan(room)
    for chunk in filter(None, _as_utf8(_chunks(file, room))):
        scan.feed(chunk)
    return scan.kept


def _chunks(file: io.RawIOBase, room: Room) -> Iterator[bytes]:
    while chunk := file.read(min(CHUNK, room.bytes + 1)):
        room.take("bytes", len(chunk))
        yield chunk


def _as_utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The file as UTF-8, without the byte order mark that programs on Windows put before it. They
    also write other encodings: `>` in PowerShell gives UTF-16.
    """
    first = next(chunks, b"")
    encoding = json.detect_encoding(first)
    if encoding.startswith("utf-8"):
        yield first.removeprefix(codecs.BOM_UTF8)
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding)()
    for chunk in itertools.chain([first], chunks):
        yield decoder.decode(chunk).encode("utf-8")
    decoder.decode(b"", final=True)


class _Scan:
    """Takes a file chunk by chunk and keeps what is not dropped."""

    def __init__(self, room: Room) -> None:
        self.kept = bytearray()
        self._room = room
        self._in_string = self._escaped = False  # at the end of the last chunk
        self._stack: list[int] = []  # the lists and objects that are open
        self._announced = False  # is the next value to be dropped?
        self._dropping = 0  # how many lists and objects of a value being dropped are open

    def feed(self, chunk: bytes) -> None:
        places = self._structure(chunk)
        codes = np.frombuffer(chunk, np.uint8)[places]
        depths = np.cumsum(_DEPTH[codes], dtype=np.int64)
        at, start = 0, 0  # the token that is next, and the byte from which on bytes are kept
        while at < len(places):
            if self._dropping:
                at, ended = self._skip(depths, at)
                start = int(places[at - 1]) if ended else len(chunk)
            else:
                at, start = self._keep(chunk, places, codes, at, start)
        if not self._dropping:
            self._take(chunk[start:])

    def _keep(
        self, chunk: bytes, places: np.ndarray, codes: np.ndarray, at: int, start: int
    ) -> tuple[int, int]:
        """Go on for a window of tokens, or to where a value begins that is to be dropped."""
        window = codes[at : at + _WINDOW].tolist()
        for index, code in enumerate(window, at):
            announced, self._announced = self._announced, False
            if code in _OPENING:
                if announced:
                    self._room.take("values", index + 1 - at)
                    self._dropping = 1
                    end = int(places[index]) + 1
                    self._take(chunk[start:end])
                    return index + 1, end
                self._stack.append(code)
            elif code in _CLOSING:
                del self._stack[-1:]
            elif code == _COLON and self._stack in _CELLS:
                end = int(places[index])
                before = chunk[max(start, end - _LONGEST_KEY) : end]
                if len(before) < _LONGEST_KEY:
                    before = bytes(self.kept[-_LONGEST_KEY:]) + before
                self._announced = bool(_KEY.search(before))
        self._room.take("values", len(window))
        return at + len(window), start

    def _skip(self, depths: np.ndarray, at: int) -> tuple[int, bool]:
        """The token after the one that ends what is dropped, and whether that is in this chunk."""
        base = int(depths[at - 1]) if at else 0
        target, window = base - self._dropping, _WINDOW
        while at < len(depths):
            there = np.flatnonzero(depths[at : at + window] <= target)
            if len(there):
                self._dropping = 0
                return at + int(there[0]) + 1, True
            at, window = at + window, 2 * window
        self._dropping = int(depths[-1]) - target
        return len(depths), False

    def _take(self, data: bytes) -> None:
        self._room.take("kept", len(data))
        self.kept += data

    def _structure(self, chunk: bytes) -> np.ndarray:
        """The places of brackets, commas and colons that stand in no string."""
        data = np.frombuffer(chunk, np.uint8)
        quotes = data == _QUOTE
        if self._escaped or b"\\" in chunk:
            quotes[self._escapes(data)] = False
        odd = np.cumsum(quotes, dtype=np.uint8) & 1  # 256 is even: the sum may wrap
        inside = odd ^ self._in_string
        self._in_string = bool(inside[-1])
        return np.flatnonzero(_STRUCTURE[data] & (inside == 0))

    def _escapes(self, data: np.ndarray) -> np.ndarray:
        """The places that a backslash before them escapes: behind each odd run of them."""
        slashes = data == _BACKSLASH
        escaped = [0] if self._escaped else []
        if self._escaped:
            slashes[0] = False
        edges = np.flatnonzero(np.diff(slashes, prepend=False, append=False))
        ends, lengths = edges[1::2], edges[1::2] - edges[::2]
        behind = ends[lengths % 2 == 1]
        self._escaped = bool(len(behind) and behind[-1] == len(data))
        return np.concatenate([escaped, behind[behind < len(data)]]).astype(np.int64)
