"""A run as data for a live picture: what is in it, and that nothing in it can do harm."""

import base64
import json
import math

import numpy as np
from test_timeline import add, exchange, long_run, world

from distlab.records.events import FAILED, INTERNAL, RAISED, RUNNING, Held
from distlab.viz import widget
from distlab.viz.layout import lay_out
from distlab.viz.timeline import timeline

HOSTILE = '</script><script>window.stolen=1</script><img src=x onerror="window.stolen=1">'


def columns(records, **options):
    """(tree, a column of the events by its name)."""
    made = timeline(records, **options).model()
    return made.tree, lambda name: made.columns[made.tree["events"][name]["column"]]


def words(tree, column):
    return [tree["words"][number] for number in column]


def test_operations_come_rank_by_rank_in_order_of_time_with_their_matches():
    tree, column = columns(exchange())
    assert tree["events"]["count"] == 4
    assert column("rank").tolist() == [0, 0, 1, 1]
    assert words(tree, column("call")) == [
        "send(dst=1)",
        "recv(src=1)",
        "recv(src=0)",
        "send(dst=0)",
    ]
    assert column("mate").tolist() == [2, 3, 0, 1]
    assert np.allclose(column("begin"), [0.001, 0.0035, 0.0005, 0.004])
    assert np.allclose(column("end") - column("begin"), [0.002, 0.0023, 0.0023, 0.002])
    assert words(tree, column("place")) == ["step:3", "step:4", "step:3", "step:5"]
    assert column("bytes").tolist() == [4.0] * 4


def test_what_never_ended_has_no_end_and_lasts_as_long_as_its_rank():
    records = world(2, RUNNING)
    add(records, 0, "recv", 0.002, None, 1)
    records[1].progress, records[1].end = RAISED, 0.008
    tree, column = columns(records)
    assert math.isnan(column("end")[0]) and column("mate")[0] == -1
    assert [rank["progress"] for rank in tree["ranks"]] == ["did not end", "raised"]
    assert column("until")[0] == tree["ranks"][0]["end"] > tree["ranks"][1]["end"]


def test_a_request_that_nobody_waited_for_has_no_wait():
    records = world(2)
    add(records, 0, "send", 0.002, 0.003, 1, blocking=False)
    add(records, 1, "recv", 0.002, 0.004, 0, blocking=False, wait=0.003)
    _, column = columns(records)
    assert math.isnan(column("from")[0])
    assert column("from")[1] == 0.003 - 0.001


def test_a_collective_names_its_members_those_that_came_and_what_does_not_fit():
    records = world(3)
    for rank in (0, 1):
        add(records, rank, "barrier", 0.002 + rank * 0.001, None)
    tree, column = columns(records)
    (call,) = tree["collectives"]
    assert call["members"] == [0, 1, 2]
    assert tree["words"][call["label"]] == "barrier: rank 2 missing"
    assert column("band").tolist() == [0, 0]
    records = world(2)
    add(records, 0, "barrier", 0.002, None)
    add(records, 1, "all_reduce", 0.002, None)
    tree, _ = columns(records)
    assert "barrier and all_reduce" in tree["words"][tree["collectives"][0]["conflict"]]


def test_flags_say_what_kind_of_operation_it_is():
    records = world(2)
    for rank in range(2):
        add(records, rank, "all_reduce", 0.002, 0.003, flags=INTERNAL, api="backward")
    refused = add(records, 0, "send", 0.004, 0.0041, 1, state=FAILED, blocking=False)
    refused.flags = 0
    _, column = columns(records, highlight=[refused])
    collective, internal, message, lit = 2, 4, 1, 64
    assert column("flags")[0] == collective | internal
    assert column("flags")[1] & message and column("flags")[1] & lit


def test_what_tensors_held_goes_along():
    records = exchange()
    records[0].events[0].before = Held((7.0, 8.0))
    records[1].events[0].after = Held(norm=3.5)
    made = timeline(records).model()
    held = {name: made.columns[spec["column"]].tolist() for name, spec in made.tree["held"].items()}
    assert held["event"] == [0, 2] and held["when"] == [0, 1] and held["count"] == [2, 0]
    assert held["values"] == [7.0, 8.0] and held["norm"][1] == 3.5


def test_the_scale_is_that_of_the_still_picture():
    records = exchange()
    still = lay_out(records, timeline(records).pairs, 900)
    made = timeline(records).model()
    scale = made.tree["scale"]
    time, at = (made.columns[scale[name]["column"]] for name in ("time", "at"))
    assert scale["linear"] == still.scale.linear
    assert at[0] == 0 and at[-1] == 1 and (np.diff(at) >= 0).all() and (np.diff(time) > 0).all()


def test_a_run_without_events_or_ranks_that_never_started_is_a_run():
    for records in (world(2), world(1)[:0], long_run(0)):
        tree, _ = columns(records)
        assert tree["events"]["count"] == 0


def test_strings_are_told_once_however_long_the_run_is():
    short, long = (timeline(long_run(steps)).model() for steps in (5, 50))
    assert short.tree["words"] == long.tree["words"]
    assert len(json.dumps(long.tree)) < len(json.dumps(short.tree)) + 4_000


def test_only_sources_that_an_operation_stands_in_go_along():
    made = timeline(exchange()).model({"cell": "import torch\n", "another": "secret = 1\n"})
    assert made.tree["sources"] == {"cell": "import torch\n"}


def test_columns_in_a_page_are_those_of_the_run():
    made = timeline(exchange()).model()
    inline = json.loads(json.dumps(made.inline(), allow_nan=False))
    spec = inline["events"]["begin"]
    found = np.frombuffer(base64.b64decode(inline["columns"][spec["column"]]), "<" + spec["type"])
    assert np.allclose(found, [0.001, 0.0035, 0.0005, 0.004])


def test_a_page_shows_what_a_stranger_has_named_as_text(tmp_path):
    records = exchange()
    for record in records:
        for event in record.events:
            event.function = event.file = event.dtype = event.api = HOSTILE
    title = HOSTILE + "\u2028\ud800"
    page = timeline(records, title=title, verdict=HOSTILE).save(
        tmp_path / "run.html", sources={HOSTILE: HOSTILE}
    )
    html = page.read_text("utf-8")
    assert "<script>window" not in html and "<img" not in html
    # the picture's script, the data, the live picture's
    assert html.count("<script") == html.count("</script>") == 3


def test_lone_surrogates_are_not_sent():
    records = exchange()
    records[0].events[0].function = records[0].stands = "\ud800"
    made = timeline(records, title="\ud800", verdict="\ud800").model({"cell": "\ud800"})
    json.dumps(made.tree, ensure_ascii=False).encode("utf-8")


def test_the_code_holds_nothing_that_would_end_its_element_and_fetches_nothing():
    code = widget.module()
    assert "</script" not in code and "<!--" not in code
    # what a simulator answers is drawn in Python, which escapes what strangers wrote
    drawn = "this.result.innerHTML = answer.html;"
    assert code.count(drawn) == 1 and drawn not in widget.script()
    code = code.replace(drawn, "")
    for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(",
                 "Function(", "fetch(", "import(", "XMLHttpRequest"):  # fmt: skip
        assert word not in code, word
    links = [part.split('"')[0] for part in code.split("http")[1:]]
    assert links == ["://www.w3.org/2000/svg"]


def test_a_still_picture_in_a_frame_is_the_still_picture():
    still = timeline(exchange())._repr_html_()
    assert widget.framed("k-1", still) == f'<div data-distlab-run="k-1">{still}</div>'


def test_outside_of_a_notebook_a_picture_has_no_frame():
    assert "data-distlab-run" not in timeline(exchange())._repr_html_()
