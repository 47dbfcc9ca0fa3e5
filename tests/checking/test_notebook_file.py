"""A notebook is read without its outputs, in time and memory that the rest alone takes."""

import contextlib
import io
import json
import random
import time
import tracemalloc

import pytest

from distlab.checking import notebook_file, submission
from distlab.checking.notebook_file import Room, TooMuch

MANY = 1 << 40


def read(data, chunk=None, room=None):
    """What is left of the bytes when they are read so many at a time."""
    source = io.BytesIO(data)
    if chunk:
        take = source.read
        source.read = lambda size: take(min(size, chunk))
    return bytes(notebook_file.without_outputs(source, room or Room(MANY, MANY, MANY)))


def notebook(*cells, **more):
    return {"nbformat": 4, "metadata": {}, "cells": list(cells), **more}


def bare(content):
    """The same by Python's parser: what may be dropped is empty."""
    lists = [content.get("cells", []), *(s["cells"] for s in content.get("worksheets", []))]
    for cell in (cell for cells in lists for cell in cells):
        for name in ("outputs", "attachments"):
            if isinstance(cell.get(name), (list, dict)):
                cell[name] = type(cell[name])()
    return content


def anything(generator, depth=0):
    """A random value of JSON with all that makes it hard to say where it ends."""
    kind = generator.randrange(8 if depth < 5 else 5)
    if kind < 3:
        letters = ['"', "\\", "\\\\", "[", "]", "{", "}", ",", ":", "é", "\ud800", "\n", "outputs"]
        return "".join(generator.choices(letters, k=generator.randrange(8)))
    if kind < 5:
        return generator.choice([None, True, -1.5e300, 0, float("nan"), float("inf")])
    inside = [anything(generator, depth + 1) for _ in range(generator.randrange(5))]
    if kind == 5:
        return inside
    return {generator.choice(["outputs", "cells", "a", '"']) + str(i): v
            for i, v in enumerate(inside)}  # fmt: skip


def test_random_notebooks_are_what_pythons_parser_makes_of_them_without_outputs():
    generator = random.Random(1)
    for number in range(150):
        cells = [
            {key: anything(generator)
             for key in ("source", "outputs", "metadata", "attachments", "id")
             if generator.random() < 0.8}
            for _ in range(generator.randrange(6))
        ]  # fmt: skip
        content = notebook(*cells, worksheets=[{"cells": cells}], outputs=anything(generator))
        data = json.dumps(
            content, ensure_ascii=bool(number % 2), indent=generator.choice([None, 1]),
            separators=generator.choice([(",", ":"), (" , ", "\n: ")]),
        ).encode("utf-8", "surrogatepass")  # fmt: skip
        found = read(data, generator.choice([1, 2, 3, 7, 64, 1000, None]))
        text = found.decode("utf-8", "surrogatepass")
        assert repr(json.loads(text)) == repr(bare(content))


def test_only_the_outputs_of_cells_are_dropped():
    metadata = {"outputs": [1], "nested": {"outputs": {"a": 1}}}
    content = notebook(
        {"metadata": metadata, "source": ["outputs", "[1]"], "outputs": "text"}, outputs=[1]
    )
    assert json.loads(read(json.dumps(content).encode())) == content


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize("chunk", [None, 4, 7])
def test_what_windows_programs_make_of_a_notebook_is_read(encoding, chunk):
    content = notebook({"cell_type": "code", "source": "größe = '𝛼'", "outputs": ["[" * 9]})
    data = json.dumps(content, ensure_ascii=False).encode(encoding)
    assert json.loads(read(data, chunk)) == bare(content)


@pytest.mark.parametrize("cut", [b'{"cells": [{"outputs": [[1, 2', b'{"cells": [{"outputs": "a'])
def test_what_ends_too_early_is_no_json(cut):
    with pytest.raises(ValueError):
        json.loads(read(cut))


def test_what_is_kept_is_limited_and_outputs_are_not():
    data = json.dumps(notebook({"source": "x" * 100, "outputs": ["y" * 10_000] * 100})).encode()
    room = Room(len(data), 200, 20)
    assert len(read(data, room=room)) < 200 and room.bytes == 0 and room.kept < 100
    for what, room in (
        ("bytes", Room(len(data) - 1, MANY, MANY)), ("kept", Room(MANY, 100, MANY)),
        ("values", Room(MANY, MANY, 9)),
    ):  # fmt: skip
        with pytest.raises(TooMuch) as refused:
            read(data, room=room)
        assert refused.value.what == what


#: what outputs are made of: pictures, tables, and what takes a parser long
PIECES = {
    "text": b'"' + b"iVBOR" * 1000 + b'",', "numbers": b"0.125,", "lists": b"[],",
    "objects": b'{"a":{"b":1}},', "strings": b'"a",', "escapes": b'"\\\\\\"",', "quotes": b'"",',
    "open": b"[", "closed": b"]", "colons": b":", "garbage": b"\xff\\",
}  # fmt: skip


def seconds(data):
    """The processor's time for reading it: the shortest of three."""
    taken = []
    for _ in range(3):
        begin = time.process_time()
        with contextlib.suppress(TooMuch):
            read(data, room=submission.room())
        taken.append(time.process_time() - begin)
    return min(taken)


@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES)
def test_time_grows_with_the_bytes_of_outputs_whatever_they_are(piece):
    def made(size):
        return b'{"cells": [{"outputs": [' + piece * (size // len(piece)) + b'""]}]}'

    half, whole = seconds(made(4 << 20)), seconds(made(8 << 20))
    assert whole < 3 * half + 0.05
    assert whole < 4.0  # 0.1 to 0.3 s


def test_many_cells_with_small_outputs_take_no_longer():
    def made(number):
        return b'{"cells": [' + b'{"outputs":[[]]},' * number + b"{}]}"

    half, whole = seconds(made(20_000)), seconds(made(40_000))
    assert whole < 3 * half + 0.05


def test_memory_does_not_depend_on_the_outputs():
    piece = b'{"a":["b",1]},'
    data = b'{"cells": [{"outputs": [' + piece * ((20 << 20) // len(piece)) + b'""]}]}'
    tracemalloc.start()
    try:
        read(data)
        assert tracemalloc.get_traced_memory()[1] < 40 * notebook_file.CHUNK
    finally:
        tracemalloc.stop()
