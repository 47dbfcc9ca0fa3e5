"""The kernel's side of live pictures: it hands runs to the front end that asks for them.

One widget a kernel, which is never displayed: its module looks for the frames of pictures in the
page and asks for their runs. The notebook's outputs hold the still picture and the frame's name
alone, so that a saved notebook is no larger, and shows the still picture wherever it is opened.

VS Code shows widgets by an extension, but runs the scripts of outputs: there a short run lies
beside its picture, and the code with the first one, or with another one of the cell that had it:
a cell that runs again writes over its output.
"""

from __future__ import annotations

import contextlib
import importlib.util
import linecache
import os
import secrets
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Protocol

from distlab.viz import widget

if TYPE_CHECKING:
    from distlab.records.events import RankRecord
    from distlab.viz.run_model import Model

_OFF = ("off", "0", "no")
SETTING = "DISTLAB_WIDGETS"  # "off": still pictures alone; "on": live ones whatever the front end
LONGEST_CODE = 20_000  # characters of a running cell by which a front end finds it
MOST_RUNS, MOST_EVENTS = 60, 400_000  # that are kept for a front end to ask for
#: events at most of a run that is saved in an output, where no kernel can be asked: 160 kB, or up
#: to 500 kB with tensors that are kept by value
MOST_SAVED = 1_000


class Answers(Protocol):
    """A simulator, whose sliders are in the page."""

    def spec(self) -> dict[str, Any]:
        """What a page needs to begin."""
        ...

    def answer(self, positions: Mapping[str, object] | None = None) -> dict[str, Any]:
        """What it shows for positions of its sliders."""
        ...


_runs: OrderedDict[str, tuple[Callable[[], Model], int]] = OrderedDict()
_simulators: OrderedDict[str, Answers] = OrderedDict()
_hub: Any = None
_token = secrets.token_hex(4)
_made = 0
_coded: tuple[str, int] | None = None  # the cell whose output has got the code, and its run


def in_notebook() -> bool:
    """Is this a kernel, whose outputs can be written over? A process that has not imported IPython
    is none: it is not imported to find out.
    """
    return getattr(shell(), "kernel", None) is not None


def shell() -> Any:
    """IPython's, which its cells get by `get_ipython()`; `None` where there is none."""
    ipython = sys.modules.get("IPython")
    return ipython and ipython.get_ipython()


def wanted() -> bool:
    """Is there a front end that brings pictures to life, and may it?

    A Jupyter server names the notebook to the kernels that it starts. nbconvert and nbgrader do
    not: they would only store what a widget says.
    """
    setting = os.environ.get(SETTING, "").lower()
    if setting in _OFF or not in_notebook():
        return False
    return (setting in ("on", "1", "yes") or "JPY_SESSION_NAME" in os.environ) and bool(
        importlib.util.find_spec("anywidget")
    )


def picture(still: str, run: Callable[[], Model], events: int) -> str:
    """What an output shows of a run, as HTML: the still picture, which comes to life where it can.

    Args:
        still: the still picture, as HTML.
        run: makes its data when they are asked for.
        events: how many it has.
    """
    if wanted() and _opened():
        return widget.framed(_offered(run, events), still)
    if _in_vscode() and events <= MOST_SAVED:
        with contextlib.suppress(Exception):  # whatever a run holds, the still picture is there
            return _saved(run, still)
    return still


def _offered(run: Callable[[], Model], events: int) -> str:
    """Keep a run for the front end; returns the name for its frame."""
    name = _next_name()
    _runs[name] = run, events
    while len(_runs) > MOST_RUNS or (
        len(_runs) > 1 and sum(count for _, count in _runs.values()) > MOST_EVENTS
    ):
        _runs.popitem(last=False)
    return name


def _in_vscode() -> bool:
    """Has VS Code started this kernel, and may its pictures live? On another machine (WSL, a
    container) it sets no VSCODE_PID, but tells the kernel of which notebook it is.
    """
    if os.environ.get(SETTING, "").lower() in _OFF or not in_notebook():
        return False
    names = getattr(shell(), "user_ns", {})
    return "VSCODE_PID" in os.environ or "__vsc_ipynb_file__" in names


def _saved(run: Callable[[], Model], still: str) -> str:
    """A picture that brings its run along, and the code where no output has it."""
    global _coded
    cell, number = _cell()
    lacks = _coded is None or (_coded[0] == cell and _coded[1] != number)
    picture = widget.embedded(_next_name(), still, run(), lacks)
    if lacks:
        _coded = cell, number
    return picture


def _cell() -> tuple[str, int]:
    """The cell that runs, and the number of this execution. Where a front end does not name its
    cells, cells of different text are taken for different ones.
    """
    told = getattr(shell(), "parent_header", None) or {}
    name = str(told.get("metadata", {}).get("cellId") or _running())
    return name, getattr(shell(), "execution_count", 0)


def _next_name() -> str:
    global _made
    _made += 1
    return f"{_token}-{_made}"


def offer_simulator(simulator: Answers) -> str | None:
    """Keep a simulator for the front end to ask; returns the name for its frame, or None where
    there is none.
    """
    if not wanted() or not _opened():
        return None
    name = _next_name()
    _simulators[name] = simulator
    while len(_simulators) > MOST_RUNS:
        _simulators.popitem(last=False)
    return name


def pushed() -> Callable[[dict[str, Any]], None] | None:
    """A function that shows a look at a running run while its cell still runs; None where no front
    end can show it. An empty look says that there is nothing more to see.

    A look is the widget's state and not a message: a front end that is still loading the widget
    finds the newest. It is shown in the page alone, below the running cell, found by its text.
    """
    if not wanted() or not _opened():
        return None
    code = _running()[:LONGEST_CODE]

    def push(look: dict[str, Any]) -> None:
        _hub.look = look and {**look, "code": code}

    return push


def _running() -> str:
    """The text of the cell that runs."""
    history = getattr(shell(), "history_manager", None)
    return str(history.input_hist_raw[-1]) if history and history.input_hist_raw else ""


def _opened() -> bool:
    """Make the widget when the first picture is shown; is it there?"""
    global _hub
    if _hub is None:
        try:
            _hub = _make()
        except Exception:  # whatever a widget lacks here, the still picture is there
            return False
    return True


def _make() -> Any:
    import anywidget
    import traitlets

    class Hub(anywidget.AnyWidget):
        _esm = widget.module()
        kernel = traitlets.Unicode(_token).tag(sync=True)
        look = traitlets.Dict().tag(sync=True)  # the newest at a run that goes on, if any

    hub = Hub()
    hub.on_msg(_asked)
    if "JPY_SESSION_NAME" not in os.environ:  # such front ends load widgets that are displayed
        from IPython.display import display

        display(hub)
    return hub


def _asked(hub: Any, content: Any, _buffers: object) -> None:
    """Send a run that the front end asks for; the picture of one that was dropped stays still.

    For a simulator it asks first without positions, for its description, and then for what it
    shows at positions of its sliders.
    """
    name = str(content.get("run")) if isinstance(content, dict) else ""
    if name in _simulators:
        at, one = content.get("positions"), _simulators[name]
        told = one.answer(at) if isinstance(at, dict) else one.spec()
        hub.send({"kind": "simulated", "run": name, "number": content.get("number"), "told": told})
    if name in _runs:
        made = _runs[name][0]()
        hub.send({"kind": "run", "run": name, "tree": made.tree}, buffers=made.buffers())


def sources(records: Iterable[RankRecord]) -> dict[str, str]:
    """The text of the cells that operations stand in, by their name in the records."""
    files = {event.file for record in records for event in record.events}
    cells = {
        PurePath(name).name[-32:]: "".join(told[2])
        for name, told in linecache.cache.copy().items()
        if "ipykernel" in name and len(told) == 4
    }
    return {name: text for name, text in cells.items() if name in files}
