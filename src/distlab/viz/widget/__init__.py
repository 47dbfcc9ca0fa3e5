"""The picture of a run that a reader can touch: zoomed, stepped through, asked, and read as tables.

It stands in the place of the still picture, which is in every page and every saved notebook and
stays where no script runs. A page has the run beside the picture (`embedded`), and so has an output
in VS Code; else in a notebook the script asks the kernel for it (`distlab.viz.widget.kernel`), so
that nothing of it is saved.

The JavaScript is one module without a build: the files named in `_PARTS`, one after the other.
"""

from __future__ import annotations

import functools
import json
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from distlab.viz.run_model import Model

_FOLDER = Path(__file__).parent
_PARTS = (
    "graph.js",
    "run.js",
    "drawing.js",
    "cell.js",
    "view.js",
    "live.js",
    "compare.js",
    "entry.js",
)


@functools.cache
def script() -> str:
    """The module's code, without exports."""
    style = (_FOLDER / "style.css").read_text("utf-8")
    parts = [(_FOLDER / part).read_text("utf-8") for part in _PARTS]
    return "".join([f"const STYLE = {_plain(json.dumps(style))};\n", *parts])


@functools.cache
def simulator_script() -> str:
    """What a page with a simulator needs beside `script`."""
    style = _plain(json.dumps((_FOLDER / "simulator.css").read_text("utf-8")))
    code = (_FOLDER / "simulator.js").read_text("utf-8")
    return f"const SIMULATOR_STYLE = {style};\n{code}"


def module() -> str:
    """The code as an ES module for anywidget."""
    return f"{script()}{simulator_script()}{_EXPORT}"


_EXPORT = """
export default {
  initialize(context) {
    const ends = [initialize(context), initializeSimulators(context)];
    return () => ends.forEach(end => end());
  },
  render() {},
};
"""


def framed(name: str, still: str) -> str:
    """A still picture (HTML) in a frame whose place the live one takes."""
    return f'<div data-distlab-run="{escape(name)}">{still}</div>'


def framed_simulator(name: str, still: str) -> str:
    """A simulator's still picture (HTML) in a frame whose place the sliders take."""
    return f'<div data-distlab-simulator="{escape(name)}">{still}</div>'


def embedded(name: str, still: str, run: Model, coded: bool = True) -> str:
    """A still picture with its run and the script that brings it to life, for a page.

    Args:
        coded: with the script; a page has it once, for all of its pictures.
    """
    data = _plain(json.dumps(run.inline(), ensure_ascii=False, allow_nan=False))
    code = (
        f'<script type="module">{script()}(window.distlabMount = mountPage)();</script>'
        if coded
        else "<script>window.distlabMount?.();</script>"
    )
    return (
        f"{framed(name, still)}"
        f'<script type="application/json" class="distlab-data" data-of="{escape(name)}">'
        f"{data}</script>{code}"
    )


def _plain(json_text: str) -> str:
    """JSON in which nothing can end a script element or begin a comment."""
    return json_text.replace("<", "\\u003c")
