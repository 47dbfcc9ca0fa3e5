"""What a figure shows is said in words, in the notebook that it is shown in too."""

import re
from html import unescape

import matplotlib
import numpy as np
import pytest
from kernels import PATIENCE, Kernel

from distlab.viz import alt_text

matplotlib.use("Agg")

import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def test_lines_are_told_by_their_names_ends_and_extremes():
    _, axis = plt.subplots()
    axis.plot([1, 2, 4], [100, 50, 4000.4], label="ring")
    axis.errorbar([1, 2], [3, 4], [1, 1], capsize=4, label="measured")
    axis.axvline(2, label="knee")
    axis.set(title="four ranks", xlabel="ranks", ylabel="time, ms")
    axis.legend()
    assert alt_text.of(axis.figure) == (
        "A chart. four ranks: time, ms over ranks. Lines: ring: 100 at 1, lowest 50, 4,000 at 4; "
        "measured: 3 at 1, 4 at 2. Legend: knee."
    )


def test_bars_are_told_by_their_names_and_lengths():
    _, (lying, standing) = plt.subplots(1, 2)
    lying.barh(["rank 0", "rank 1"], [2, 3])
    lying.barh("rank 0", 1, left=2)
    standing.bar(["ring", "tree"], [0.5, 0.25])
    assert alt_text.of(lying.figure) == (
        "2 charts. (1) Bars: rank 0: 2; rank 0: 2 to 3; rank 1: 3. (2) Bars: ring: 0.5; tree: 0.25."
    )


def test_bars_without_names_are_told_by_their_places():
    _, axis = plt.subplots()
    axis.hist([0, 0, 1, 1, 4], bins=4)
    said = "at 0.5: 2; at 1.5: 2; at 2.5: 0; at 3.5: 1"
    assert alt_text.of(axis.figure) == f"A chart. Bars: {said}."


def test_a_legend_that_is_not_there_is_not_told():
    _, axis = plt.subplots()
    axis.scatter([1], [2], label="ranks")
    assert alt_text.of(axis.figure) == "A chart. Parts: ranks."
    axis.legend()
    assert alt_text.of(axis.figure) == "A chart. Legend: ranks."


def test_numbers_that_nobody_counts_have_exponents():
    _, axis = plt.subplots()
    axis.plot([1e5, 1e12], [1e-20, 1e20])
    said = "1e-20 at 100,000, 1e+20 at 1e+12"
    assert alt_text.of(axis.figure) == f"A chart. Lines: a line: {said}."


def test_what_is_written_in_a_bar_is_told_with_it():
    _, axis = plt.subplots()
    for rank in range(2):
        axis.barh(rank, 4, left=2 * rank)
        axis.text(2 * rank + 1, rank, f"block\n{rank}")
    axis.text(9, 0, "idle")
    axis.set_yticks([0, 1], ["rank 0", "rank 1"])
    axis.set_title("a step", loc="left")
    said = "Bars: rank 0 block 0: 4; rank 1 block 1: 2 to 6. Written in it: idle."
    assert alt_text.of(axis.figure) == f"A chart. a step. {said}"


def test_an_authors_words_come_first():
    figure, axis = plt.subplots(label="Which rank holds each weight")
    axis.imshow(np.eye(8))
    axis.text(0, 0, "rank\n1")
    said = "Which rank holds each weight. A chart. A grid of 8 by 8 fields. Written in it: rank 1."
    assert alt_text.of(figure) == said


def test_much_is_counted():
    _, axis = plt.subplots()
    axis.bar(range(30), range(1, 31))
    axis.plot([0, 1], [np.nan, np.nan])
    assert alt_text.of(axis.figure) == "A chart. Bars: bars: 30 from 0 to 30."


DRAW = """
import matplotlib.pyplot as plt

from distlab import check

figure, axis = plt.subplots(figsize=(1, 1))
axis.plot([0, 4], [1, 2], label="<b>&amp;")
plt.show()
"""


def outputs(kernel, code):
    shown = []
    kernel.client.execute_interactive(code, timeout=PATIENCE, output_hook=shown.append)
    kinds = {"display_data", "execute_result", "update_display_data", "error"}
    return [m["content"] for m in shown if m["msg_type"] in kinds]


def test_a_notebook_shows_a_figure_with_these_words(tmp_path):
    with Kernel(tmp_path) as kernel:
        (shown,) = outputs(kernel, DRAW)
        alt = re.fullmatch(r'<img src="data:image/png;base64,\S+" alt="([^"<]*)">',
                           shown["data"]["text/html"])  # fmt: skip
        said = "A chart. Lines: <b>&amp;: 1 at 0, 2 at 4."
        assert unescape(alt[1]) == shown["metadata"]["image/png"]["alt"] == said
        assert shown["data"]["image/png"].strip() in shown["data"]["text/html"]
        # a display that is updated, an odd figure, another format: as without distlab
        again = outputs(kernel, "one = display(figure, display_id=True); one.update(figure)")
        assert [set(one["data"]) for one in again] == [set(shown["data"])] * 2
        (odd,) = outputs(kernel, "axis.get_title = None\nfigure")
        assert 'alt="A figure."' in odd["data"]["text/html"]
        # what a figure raises when it is drawn is told once
        told = outputs(kernel, r"axis.set_xlabel(r'$\frac$')" + "\nfigure")
        assert [one.get("ename") for one in told] == ["ValueError", None]
        assert set(told[1]["data"]) == {"text/plain"}
        outputs(kernel, "axis.set_xlabel('')")
        (drawn,) = outputs(kernel, "%config InlineBackend.figure_formats = ['svg']\nfigure")
        assert set(drawn["data"]) == {"image/svg+xml", "text/plain"}
