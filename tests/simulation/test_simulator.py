"""The simulator under its sliders: what it says, shows and refuses."""

import json
import re
import xml.etree.ElementTree as ElementTree
from dataclasses import replace

import pytest
from test_retiming import collective, run_of, training

from distlab.processes.wrong_argument import WrongArgument
from distlab.records.events import RUNNING
from distlab.simulation.simulator import MOST_CALLS, MOST_MESSAGES, RANKS, simulator
from distlab.viz import widget
from distlab.viz.widget import kernel


def messages():
    def events(rank):
        op = "send" if rank == 0 else "recv"
        return [collective(rank, 0.1, 0.5, op, 2, peer=1 - rank, nbytes=1_000_000)]

    return run_of(2, events)


def at(one, **values):
    """Positions of the sliders at these values' texts."""
    texts = {slider["name"]: slider["texts"] for slider in one.sliders()}
    return {name: texts[name].index(text) for name, text in values.items()}


def cells(html):
    """The tables of an answer: rows of texts."""
    tables = re.findall(r"<table>.*?</table>", html)
    parsed = [ElementTree.fromstring(table) for table in tables]
    return [[[cell.text for cell in row] for row in table.iter("tr")] for table in parsed]


def test_it_begins_with_the_ranks_that_were_recorded():
    one = simulator(training(4))
    told = {slider["name"]: slider["texts"][slider["value"]] for slider in one.sliders()}
    assert told == {
        "ranks": "4 ranks", "latency": "10.0 µs", "bandwidth": "10 GB/s", "slowness": "all alike",
        "algorithm": "ring",
    }  # fmt: skip


def test_a_move_says_and_tabulates_what_it_takes():
    one = simulator(training(4))
    chosen = at(
        one, ranks="512 ranks", latency="10.0 ms", bandwidth="10 MB/s", slowness="2 × as long"
    )
    answer = one.answer(chosen)
    seconds = one.seconds(512, latency=0.01, bandwidth=1e7, slowness=2.0)
    alone = one.seconds(1, latency=0.01, bandwidth=1e7)
    assert f"On 512 ranks the run takes {seconds:.3g} s" in answer["said"]
    assert "One rank alone and not slowed down takes " in answer["said"]
    ranks, curve = cells(answer["html"])
    assert ["512", f"{seconds:.3g} s", f"{alone / seconds:.1%}"] in curve
    assert [row[0] for row in curve[1:]] == [
        "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1,000",
    ]  # fmt: skip
    assert [row[0] for row in ranks[1:]] == [
        "rank 0 and 127 like it", "rank 1 and 127 like it", "rank 2 and 127 like it",
        "rank 3, slow", "rank 7 and 126 like it",
    ]  # fmt: skip


def test_every_point_of_the_curve_is_in_the_table():
    answer = simulator(training(4)).answer()
    points = re.findall(r"<title>([\d,]+) ranks: ([\d.]+%)</title>", answer["html"])
    table = {row[0]: row[2] for row in cells(answer["html"])[1][1:]}
    assert len(points) == len(table) == 11
    assert dict(points) == table


def test_the_pictures_are_sound_and_named():
    for records in (training(4), messages()):
        html = simulator(records).answer()["html"]
        pictures = re.findall(r"<svg.*?</svg>", html)
        assert len(pictures) == 2
        for picture in pictures:
            root = ElementTree.fromstring(picture)
            assert root.get("role") == "img" and root.get("aria-label")


@pytest.mark.parametrize("name", ["ranks", "latency", "bandwidth", "slowness", "algorithm"])
def test_every_position_of_every_slider_has_an_answer(name):
    for records in (training(3), messages()):
        one = simulator(records)
        slider = next(s for s in one.sliders() if s["name"] == name)
        for place in range(len(slider["texts"])):
            answer = one.answer({name: place})
            assert answer["at"][name] == place and answer["said"]
            json.dumps(answer, allow_nan=False)


def test_more_time_is_told_for_worse_networks_and_slower_ranks():
    one = simulator(training(4))
    usual = one.seconds(64)
    assert one.seconds(64, latency=1e-3) > usual
    assert one.seconds(64, bandwidth=1e7) > usual
    assert one.seconds(64, slowness=2) > usual
    assert one.seconds(1000) > usual > one.seconds(1)


def test_an_algorithm_that_wants_a_power_of_two_says_so():
    one = simulator(training(4))
    answer = one.answer(at(one, ranks="6 ranks", algorithm="halving and doubling"))
    assert answer["said"] == "Halving and doubling wants a power of two ranks, not 6."
    assert ["6", "–", "–"] in cells(answer["html"])[0]
    with pytest.raises(ValueError, match="wants a power of two ranks, not 6"):
        one.seconds(6, algorithm="halving and doubling")


def test_a_run_with_messages_stays_on_its_ranks_and_says_so():
    one = simulator(messages())
    answer = one.answer(at(one, ranks="64 ranks"))
    assert "so that this run stays on its 2 ranks" in answer["said"]
    assert "An all-reduce of 1 MB by a ring among 64 ranks takes" in answer["said"]
    with pytest.raises(ValueError, match="stays on its 2 ranks"):
        one.seconds(64)
    assert one.seconds(2, latency=1.0) > 1.0


def test_the_bytes_beside_a_run_with_messages_can_be_said():
    assert "An all-reduce of 4 kB" in simulator(messages(), n_bytes=4000).answer()["said"]


@pytest.mark.parametrize(
    "asked",
    [
        {"ranks": -1},
        {"ranks": 10**6},
        {"ranks": "x"},
        {"ranks": None},
        {"nobody": 3},
        {"ranks": 1.5},
    ],
)
def test_positions_that_do_not_exist_are_those_of_the_start(asked):
    one = simulator(training(4))
    assert one.answer(asked) == one.answer()


@pytest.mark.parametrize(
    "wrong",
    [
        {"ranks": -3},
        {"latency": -1.0},
        {"ranks": 0},
        {"ranks": 2.5},
        {"ranks": "4"},
        {"ranks": float("nan")},
        {"ranks": float("inf")},
        {"latency": float("inf")},
        {"bandwidth": 0.0},
        {"slowness": 0.0},
        {"algorithm": "star"},
    ],
)
def test_networks_that_do_not_exist_are_refused(wrong):
    with pytest.raises(WrongArgument, match="no such network|an all-reduce is done by"):
        simulator(training(4)).seconds(**wrong)


def test_runs_that_did_not_end_or_sent_nothing_or_are_too_long_are_refused():
    stuck = training(2)
    stuck[1] = replace(stuck[1], progress=RUNNING, end=0.0)
    with pytest.raises(WrongArgument, match="simulate a run that ends"):
        simulator(stuck)
    with pytest.raises(WrongArgument, match="nothing was sent"):
        simulator(run_of(2, lambda rank: []))

    def many(rank):
        return [collective(rank, 0.0001 * k, 0.0001 * k, size=2) for k in range(MOST_CALLS + 1)]

    with pytest.raises(ValueError, match="simulate a run of fewer steps"):
        simulator(run_of(2, many))

    def chatty(rank):
        op = ("send", "recv")[rank]
        return [
            collective(rank, 1e-4 * k, 1e-4 * k, op, 2, peer=1 - rank) for k in range(MOST_MESSAGES)
        ]

    with pytest.raises(ValueError, match="simulate a shorter run"):
        simulator(run_of(2, chatty))


def test_what_strangers_named_does_nothing_in_the_page():
    hostile = "</script><img src=x onerror=stolen()>"
    records = training(2)
    for record in records:
        for event in record.events:
            event.function = event.file = event.api = event.note = hostile
    one = simulator(records, title=hostile)
    for html in (one.still(), one.answer()["html"]):
        assert "<img" not in html and "<script" not in html


def test_the_ranks_of_the_slider_are_those_of_the_picture_of_a_course():
    assert RANKS[0] == 1 and RANKS[-1] == 1000 and {2**k for k in range(10)} <= set(RANKS)


def test_a_notebook_gets_a_frame_and_elsewhere_the_still_picture_is_all(monkeypatch):
    one = simulator(training(2))
    assert "data-distlab-simulator" not in one._repr_html_()
    monkeypatch.setattr(kernel, "wanted", lambda: True)
    monkeypatch.setattr(kernel, "_opened", lambda: True)
    html = one._repr_html_()
    name = re.search(r'data-distlab-simulator="([\w-]+)"', html)[1]
    assert one.still() in html

    class Hub:
        sent = []

        def send(self, told, buffers=None):
            self.sent.append(told)

    hub = Hub()
    kernel._asked(hub, {"kind": "simulate", "run": name, "number": 1, "positions": None}, [])
    kernel._asked(
        hub, {"kind": "simulate", "run": name, "number": 2, "positions": {"ranks": 3}}, []
    )
    kernel._asked(hub, {"kind": "simulate", "run": "no such", "number": 3, "positions": {}}, [])
    assert [told["number"] for told in hub.sent] == [1, 2]
    assert hub.sent[0]["told"] == one.spec()
    assert hub.sent[1]["told"] == one.answer({"ranks": 3})


def test_the_module_of_a_notebook_has_both_scripts():
    assert widget.script() in widget.module()
    assert widget.simulator_script() in widget.module()
