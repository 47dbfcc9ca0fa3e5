"""When a kernel offers live pictures, what it keeps, and that nothing of them is saved."""

import sys
from types import SimpleNamespace

import nbformat
import pytest
from test_timeline import exchange

from distlab.viz import widget
from distlab.viz.timeline import timeline
from distlab.viz.widget import kernel


class Hub:
    """Stands in for the widget: keeps what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, content, buffers):
        self.sent.append((content, buffers))


@pytest.fixture
def notebook(monkeypatch):
    """As if a Jupyter server had started this kernel."""
    monkeypatch.setattr(kernel, "in_notebook", lambda: True)
    monkeypatch.setattr(kernel, "_make", Hub)
    monkeypatch.setattr(kernel, "_hub", None)
    monkeypatch.setattr(kernel, "_runs", type(kernel._runs)())
    monkeypatch.setenv("JPY_SESSION_NAME", "walk.ipynb")
    monkeypatch.delenv(kernel.SETTING, raising=False)
    return kernel


def test_a_picture_in_a_notebook_has_a_frame_and_hands_its_run_to_who_asks(notebook):
    picture = timeline(exchange(), title="exchange")
    html = picture._repr_html_()
    assert html.startswith(f'<div data-distlab-run="{notebook._token}-')
    assert picture.svg(alone=False) in html
    name = html.split('"')[1]
    notebook._asked(notebook._hub, {"kind": "want", "run": name}, [])
    ((content, buffers),) = notebook._hub.sent
    assert content["run"] == name and content["tree"]["title"] == "exchange"
    assert len(buffers) > 20 and all(isinstance(one, bytes) for one in buffers)


@pytest.mark.parametrize("content", [None, [], {}, {"run": "no-1"}, {"run": ["x"]}, "run"])
def test_who_asks_for_anything_else_gets_nothing(notebook, content):
    timeline(exchange())._repr_html_()
    notebook._asked(notebook._hub, content, [])
    assert notebook._hub.sent == []


def test_it_can_be_turned_off(notebook, monkeypatch):
    monkeypatch.setenv(notebook.SETTING, "off")
    assert "data-distlab-run" not in timeline(exchange())._repr_html_()
    assert notebook._hub is None


def test_a_kernel_that_no_server_has_started_offers_nothing(notebook, monkeypatch):
    monkeypatch.delenv("JPY_SESSION_NAME")
    assert not notebook.wanted()
    monkeypatch.setenv(notebook.SETTING, "on")
    assert notebook.wanted()


def test_without_anywidget_pictures_are_still(notebook, monkeypatch):
    monkeypatch.setattr(kernel.importlib.util, "find_spec", lambda name: None)
    assert "data-distlab-run" not in timeline(exchange())._repr_html_()


def test_a_widget_that_cannot_be_made_costs_no_picture(notebook, monkeypatch):
    def broken():
        raise RuntimeError("no comm here")

    monkeypatch.setattr(kernel, "_make", broken)
    assert timeline(exchange())._repr_html_().startswith("<div style")


def test_old_runs_and_large_ones_are_forgotten_the_newest_never(notebook):
    def name(events):
        return notebook.picture("", lambda: None, events).split('"')[1]

    names = [name(10) for _ in range(notebook.MOST_RUNS + 5)]
    assert list(notebook._runs) == names[5:]
    last = name(notebook.MOST_EVENTS + 1)
    assert list(notebook._runs) == [last]


@pytest.fixture
def vscode(notebook, monkeypatch):
    """As if VS Code had started this kernel, on another machine."""
    monkeypatch.delenv("JPY_SESSION_NAME")
    monkeypatch.delenv("VSCODE_PID", raising=False)
    shell = SimpleNamespace(user_ns={"__vsc_ipynb_file__": "/home/ada/ring.ipynb"})
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(kernel, "_coded", None)
    return kernel


def test_in_vscode_pictures_bring_their_runs_along_and_the_first_the_code(vscode):
    first, second = (timeline(exchange())._repr_html_() for _ in range(2))
    assert len(first) - len(second) > len(widget.script())
    assert all(html.count('class="distlab-data"') == 1 for html in (first, second))
    assert first.split('"')[1] != second.split('"')[1]
    assert len(second) - len(timeline(exchange()).still()) < 6_000
    assert vscode._hub is None


@pytest.mark.parametrize("named", [True, False])
def test_in_vscode_a_cell_that_runs_again_has_the_code_again(vscode, named):
    """It writes over the output that had it: a check that is run until it passes."""
    shell = sys.modules["IPython"].get_ipython()

    def coded(cell, number, text):
        shell.execution_count = number
        shell.parent_header = {"metadata": {"cellId": cell} if named else {}}
        shell.history_manager = SimpleNamespace(input_hist_raw=["", text])
        return len(timeline(exchange())._repr_html_()) > len(widget.script())

    assert coded("a", 1, "check(ring)") and not coded("a", 1, "check(ring)")
    assert not coded("b", 2, "check(halo)")
    assert coded("a", 3, "check(ring)") and not coded("a", 3, "check(ring)")
    assert not coded("b", 4, "check(halo)")
    assert coded("a", 5, "check(ring)  # again") == named


def test_in_vscode_a_picture_that_cannot_be_made_is_a_still_one(vscode):
    def broken():
        raise ValueError("Out of range float values are not JSON compliant")

    assert vscode.picture("still", broken, 1) == "still"
    assert len(timeline(exchange())._repr_html_()) > len(widget.script())


def test_in_vscode_a_long_run_is_a_still_picture(vscode, monkeypatch):
    monkeypatch.setattr(vscode, "MOST_SAVED", 1)
    assert "data-distlab-run" not in timeline(exchange())._repr_html_()


def test_in_vscode_it_can_be_turned_off(vscode, monkeypatch):
    monkeypatch.setenv(vscode.SETTING, "off")
    assert "data-distlab-run" not in timeline(exchange())._repr_html_()


def test_a_kernel_that_vscode_has_not_started_saves_no_run(vscode):
    sys.modules["IPython"].get_ipython().user_ns.clear()
    assert "data-distlab-run" not in timeline(exchange())._repr_html_()


def test_cells_are_quoted_by_the_name_that_records_have_for_them(monkeypatch):
    records = exchange()
    for record in records:
        for event in record.events:
            event.file = "123.py"
    cache = {
        "/tmp/ipykernel_1/123.py": (9, None, ["a\n", "b\n"], ""),
        "/tmp/ipykernel_1/456.py": (9, None, ["secret\n"], ""),
        "/home/someone/123.py": (9, None, ["another\n"], ""),
    }
    monkeypatch.setattr(kernel.linecache, "cache", cache)
    assert kernel.sources(records) == {"123.py": "a\nb\n"}


@pytest.mark.slow  # a kernel
def test_a_notebook_that_nbclient_runs_stores_no_widget(tmp_path, monkeypatch):
    """As nbconvert and stock nbgrader run it: its outputs are those of before."""
    from nbclient import NotebookClient

    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    code = (
        "import sys\nsys.path[:0] = {!r}\nfrom test_timeline import exchange\n"
        "from distlab.viz.timeline import timeline\ntimeline(exchange())"
    ).format([str(path) for path in __import__("sys").path])
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code)])
    NotebookClient(book, timeout=120).execute()
    assert "widgets" not in book.metadata
    (output,) = book.cells[0].outputs
    assert set(output.data) == {"text/html", "text/plain"}
    assert "data-distlab-run" not in output.data["text/html"]
