"""The picture of a run: what is in it, that it can be read, and that nothing breaks it."""

import re
import subprocess
import sys
import time
import xml.etree.ElementTree as ElementTree
from types import SimpleNamespace

import pytest

from distlab.course.lab04_ring_allreduce.ring_steps import ring_steps
from distlab.records.events import (
    BLOCKING,
    DONE,
    FAILED,
    INTERNAL,
    POSTED,
    RAISED,
    RETURNED,
    RUNNING,
    WAITED,
    Event,
    RankRecord,
)
from distlab.records.pairing import match_messages, pair
from distlab.records.wording import duration
from distlab.viz.layout import lay_out
from distlab.viz.scale import fit
from distlab.viz.svg import VERMILLION, Room
from distlab.viz.timeline import LEAST_WIDTH, timeline

SVG = "{http://www.w3.org/2000/svg}"


def world(size, progress=RETURNED, end=0.010):
    """Ranks that began at 0.001 s and ended at `end`, with nothing done yet."""
    return [
        RankRecord(rank, size, progress, 0.001, end if progress != RUNNING else 0.0)
        for rank in range(size)
    ]


def add(records, rank, op, begin, end, peer=None, *, blocking=True, wait=None, count=1, **more):
    """Append an operation to a rank's record; `end` None: it never finished. Times in seconds."""
    done = end is not None
    wait_begin = begin if blocking else (wait or 0.0)
    values = dict(
        rank=rank, index=len(records[rank].events), op=op, api=op,
        group=tuple(range(len(records))), group_index=0, peer=peer, tag=0, nbytes=4 * count,
        dtype="float32", shape=(count,), pieces=1, reduction="", function="step", file="cell",
        line=3, state=DONE if done else POSTED,
        flags=(BLOCKING if blocking else 0) | (WAITED if wait_begin else 0),
        begin=begin, end=end or 0.0, wait_begin=wait_begin,
        wait_end=(end or 0.0) if wait_begin else 0.0, value=float("nan"),
    )  # fmt: skip
    event = Event(**(values | more))
    records[rank].events.append(event)
    return event


def exchange():
    """Rank 0 sends 7 to rank 1, which sends 9 back."""
    records = world(2)
    add(records, 0, "send", 0.002, 0.004, 1, value=7.0)
    add(records, 1, "recv", 0.0015, 0.0038, 0, value=7.0)
    add(records, 1, "send", 0.005, 0.007, 0, value=9.0, line=5)
    add(records, 0, "recv", 0.0045, 0.0068, 1, value=9.0, line=4)
    return records


def long_run(steps, size=4):
    records, now = world(size), 0.001
    for _ in range(steps):
        for rank in range(size):
            add(records, rank, "send", now, now + 1e-5, (rank + 1) % size, blocking=False, wait=now)
        for rank in range(size):
            add(records, rank, "recv", now + 1e-4, now + 2e-4, (rank - 1) % size)
        for rank in range(size):
            add(records, rank, "all_reduce", now + 3e-4, now + 5e-4)
        now += 6e-4
    for record in records:
        record.end = now
    return records


def parsed(picture):
    return ElementTree.fromstring(picture.svg())


def words(picture):
    return [text.text for text in parsed(picture).iter(f"{SVG}text")]


def tooltips(picture):
    return [title.text for title in parsed(picture).iter(f"{SVG}title")]


def arrows(picture):
    """The groups of messages, by their tooltip."""
    return [
        (group.find(f"{SVG}title").text, group.get("stroke"))
        for group in parsed(picture).iter(f"{SVG}g")
        if group.get("class") == "m"
    ]


def test_a_small_exchange_names_calls_places_sizes_and_values():
    found = words(timeline(exchange(), title="exchange"))
    assert {"exchange", "rank 0", "rank 1", "send(dst=1)", "recv(src=0)", "step:3"} <= set(found)
    assert "[7] 1 element · 4 B" in found
    assert "[9] 1 element · 4 B" in found


def test_each_message_is_one_arrow_that_tells_both_ends():
    found = arrows(timeline(exchange()))
    assert len(found) == 2
    assert found[0][0].startswith("rank 0 → rank 1\n[7]")
    assert "sent at step:3" in found[0][0] and "received at step:3" in found[0][0]
    assert all(color != VERMILLION for _, color in found)


def test_an_arrow_begins_with_the_send_and_ends_with_the_receive():
    records = exchange()
    laid = lay_out(records, pair(records), 900)
    first = laid.arrows[0]
    assert first.x0 == laid.scale(records[0].events[0].begin)
    assert first.x1 == laid.scale(records[1].events[0].end)


def test_messages_match_in_order_for_each_tag():
    records = world(2)
    add(records, 0, "send", 0.002, 0.003, 1, tag=1)
    add(records, 0, "send", 0.003, 0.004, 1, tag=2)
    add(records, 0, "send", 0.004, 0.005, 1, tag=1)
    late = add(records, 1, "recv", 0.002, 0.006, 0, tag=2)
    early = add(records, 1, "recv", 0.006, 0.007, 0, tag=1)
    assert [receive for _, receive in match_messages(records)] == [early, late, None]


def test_a_deadlock_of_two_sends_is_drawn_in_vermillion_and_told():
    records = world(2, RUNNING)
    for rank in range(2):
        add(records, rank, "send", 0.002, None, 1 - rank, value=float(rank))
    picture = timeline(records)
    assert [color for _, color in arrows(picture)] == [VERMILLION, VERMILLION]
    assert "did not end" in words(picture)
    assert any("never received" in word for word in words(picture))
    assert "Rank 1 did not end: it waits in send(dst=0) at step:3." in picture.summary
    assert "nobody received it" in arrows(picture)[0][0]


def bars(picture):
    """The bars of waiting, as (begin, end) in pixels, by their tooltips' first line."""
    return {
        rect.find(f"{SVG}title").text.split("\n")[0]: (
            float(rect.get("x")), float(rect.get("x")) + float(rect.get("width"))
        )
        for rect in parsed(picture).iter(f"{SVG}rect") if rect.find(f"{SVG}title") is not None
    }  # fmt: skip


def test_the_bar_of_a_hung_rank_goes_on_until_its_process_was_ended():
    records = world(2, RUNNING)
    for rank, stopped in enumerate((2.0, 1.0)):
        add(records, rank, "recv", 0.002, None, 1 - rank)
        records[rank].stopped = stopped
    laid = lay_out(records, pair(records), 900)
    assert laid.horizon == 2.0
    found = bars(timeline(records))
    for rank, until in enumerate((2.0, 1.0)):
        _, right = found[f"rank {rank}: recv(src={1 - rank}) at step:3"]
        assert right == pytest.approx(laid.scale(until), abs=0.1)
    assert timeline(records).summary.startswith("2 ranks in 2.00 s")


def test_a_receive_without_a_send_has_an_arrow_from_nowhere():
    records = world(2, RUNNING)
    add(records, 1, "recv", 0.002, None, 0)
    assert arrows(timeline(records))[0][0].startswith("rank 0 → rank 1: nothing was sent")


def test_a_receive_from_any_source_that_got_nothing_can_be_drawn():
    records = world(2, RUNNING)
    add(records, 0, "recv", 0.002, None, None)
    assert arrows(timeline(records))[0][0].startswith("any rank → rank 0: nothing was sent")


def test_a_collective_is_one_polygon_over_its_members():
    records = world(4)
    for rank in range(4):
        add(records, rank, "all_reduce", 0.002 + rank * 1e-3, 0.007, count=3)
    picture = timeline(records)
    bands = [g for g in parsed(picture).iter(f"{SVG}g") if g.get("class") == "b"]
    legend = 1
    assert len(bands) == 1 + legend
    points = bands[0].find(f"{SVG}polygon").get("points").split()
    assert len(points) == 4 * 4, "two corners on each side for each rank"
    assert "last to come: rank 3" in bands[0].find(f"{SVG}title").text
    assert "all_reduce" in words(picture)


def test_a_group_names_its_members_and_leaves_out_the_others():
    records = world(3)
    for rank in (0, 2):
        add(records, rank, "new_group", 0.0012, 0.0013, group=(0, 2), group_index=1)
        add(records, rank, "all_reduce", 0.002, 0.004, group=(0, 2), group_index=1)
    picture = timeline(records)
    band = next(g for g in parsed(picture).iter(f"{SVG}g") if g.get("class") == "b")
    assert "all_reduce [0, 2]" in words(picture)
    assert len(band.findall(f"{SVG}polygon")) == 2
    assert "missing" not in picture.summary


def test_a_collective_that_a_member_skips_says_who_is_missing():
    records = world(3, RUNNING)
    records[1].progress, records[1].end = RETURNED, 0.008
    for rank in (0, 2):
        add(records, rank, "barrier", 0.002, None, count=0, nbytes=0, shape=())
    picture = timeline(records)
    assert "barrier: rank 1 missing" in words(picture)
    assert "rank 1 missing" in picture.summary


def test_two_different_collectives_that_meet_are_named_both():
    records = world(2, RUNNING)
    add(records, 0, "barrier", 0.002, None, nbytes=0, shape=())
    add(records, 1, "all_reduce", 0.002, None)
    assert "barrier ≠ all_reduce" in words(timeline(records))


def test_what_ddp_does_by_itself_is_marked():
    records = world(2)
    for rank in range(2):
        add(
            records,
            rank,
            "all_reduce",
            0.002,
            0.004,
            blocking=False,
            api="backward",
            flags=INTERNAL,
        )
    picture = timeline(records)
    assert "all_reduce (DDP bucket)" in words(picture)
    assert "collective of DDP" in words(picture)


def test_how_each_rank_ended_is_marked():
    records = world(3)
    records[1].progress = RAISED
    records[2] = RankRecord(2, 3)
    found = words(timeline(records))
    assert "raised" in found and "never started" in found and "returned" in found


def test_a_call_that_torch_refused_gets_a_cross():
    records = world(2)
    add(records, 0, "send", 0.003, 0.003, 1, blocking=False, state=FAILED)
    assert any("and failed" in tip for tip in tooltips(timeline(records)))
    assert arrows(timeline(records)) == []


def test_highlighted_operations_and_ranks_stand_out():
    records = exchange()
    plain = timeline(records).svg().count('stroke-width="2.5"')
    lit = timeline(records, highlight=[records[0].events[0], 1]).svg()
    assert lit.count('stroke-width="2.5"') == plain + 1
    assert re.search(r'font-weight="bold"[^>]*>rank 1<', lit)


def test_five_thousand_operations_become_a_small_picture_of_counted_blocks():
    records = long_run(420)
    assert sum(len(record.events) for record in records) == 5040
    begin = time.process_time()  # whatever else the machine does
    picture = timeline(records)
    drawn = picture.svg()
    assert time.process_time() - begin < 5, "milliseconds of a processor"
    assert len(drawn) < 60_000
    blocks = [w for w in words(picture) if re.fullmatch(r"×\d+ all_reduce", w)]
    assert blocks
    tips = [t for t in tooltips(picture) if t.startswith("rank 0: ×")]
    counted = sum(int(n) for tip in tips for n in re.findall(r"×(\d+)", tip))
    assert counted <= len(records[0].events)


def test_merged_messages_are_all_counted():
    picture = timeline(long_run(420))
    counted = sum(int(re.match(r"×(\d+)", tip)[1]) for tip, _ in arrows(picture))
    assert counted == 4 * 420
    assert len(arrows(picture)) <= 90


def test_sixteen_ranks_fit_and_have_a_row_each():
    picture = timeline(long_run(1, size=16))
    found = words(picture)
    assert [f"rank {rank}" for rank in range(16)] == [w for w in found if w.startswith("rank ")]
    assert float(parsed(picture).get("height")) < 650
    assert len(picture.svg()) < 60_000


def idle_twice():
    """A rank begins in the middle of a long pause: two cuts beside each other."""
    records = world(2, end=0.60)
    records[1].begin = 0.155
    for rank in range(2):
        for step in range(8):
            add(records, rank, "all_reduce", 0.48 + 0.01 * step, 0.487 + 0.01 * step)
    return records


@pytest.mark.parametrize(
    "records", [exchange(), long_run(3), long_run(1, size=16), idle_twice()]
)  # fmt: skip
def test_labels_do_not_lie_on_each_other(records):
    boxes = []
    for text in parsed(timeline(records, title="a run")).iter(f"{SVG}text"):
        if text.get("x") in ("26", "6") or text.get("font-style"):
            continue  # the legend stands in coordinates of its own
        size = float(text.get("font-size", 11))
        width = 0.45 * size * len(text.text)
        left = float(text.get("x")) - {"middle": width / 2, "end": width}.get(
            text.get("text-anchor"), 0
        )
        boxes.append((left, float(text.get("y")) - 0.7 * size, left + width, float(text.get("y"))))
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]), (a, b)


def test_a_room_refuses_what_is_taken_and_what_is_outside():
    room = Room(0, 0, 100, 20)
    assert room.place("one", [(0, 12, "start")]) == "", "it would stick out on the left"
    assert room.place("one", [(5, 12, "start")])
    assert room.place("two", [(10, 12, "start")]) == ""
    assert 'x="60"' in room.place("two", [(10, 12, "start"), (60, 12, "start")])


def test_a_run_without_events_can_be_drawn_and_read():
    for records in ([], [RankRecord(0, 1)], world(2), world(1)):
        picture = timeline(records)
        parsed(picture)
        assert "no communication" in picture.text()


def test_hostile_names_neither_break_the_picture_nor_reach_the_page():
    records = exchange()
    records[0].events[0].function = "<script>alert(1)</script>"
    records[0].events[1].function = "x\"'&\x00\x08\ud800"
    picture = timeline(records, title="</svg><b>&")
    assert "</svg><b>&" in words(picture)
    assert "<script>alert" not in picture._repr_html_()
    picture.svg().encode("utf-8")


def test_nonsense_in_a_record_is_left_out_and_the_rest_is_drawn():
    records = exchange()
    add(records, 0, "send", 0.008, 0.009, 77)
    add(records, 0, "send", float("nan"), float("inf"), 1)
    records[1].end = float("nan")
    picture = timeline(records)
    assert "nan" not in picture.svg()
    assert len(arrows(picture)) == 2
    picture.text()


def test_a_picture_describes_itself_to_those_who_cannot_see_it():
    root = parsed(timeline(exchange(), title="exchange"))
    assert root.get("role") == "img"
    assert "2 ranks in 9.00 ms: 2 messages." in root.get("aria-label")
    assert root.find(f"{SVG}title").text == "exchange"
    assert "2 messages" in root.find(f"{SVG}desc").text


def test_without_its_script_the_page_keeps_the_whole_picture():
    page = timeline(exchange())._repr_html_()
    stripped = re.sub(r"<script>.*?</script>", "", page, flags=re.S)
    assert stripped != page
    root = ElementTree.fromstring(stripped)
    assert len([t for t in root.iter(f"{SVG}text")]) == len(words(timeline(exchange())))
    assert "http" not in stripped.replace("http://www.w3.org/2000/svg", "")


def test_text_takes_the_pages_colour_in_a_page_and_its_own_in_a_file():
    picture = timeline(exchange())
    assert "prefers-color-scheme" in picture.svg()
    assert "prefers-color-scheme" not in picture._repr_html_()
    assert "fill:currentColor" in picture._repr_html_()


def test_two_pictures_share_no_ids_and_one_picture_keeps_its_own():
    first, second = timeline(exchange()), timeline(long_run(1))
    ids = [{e.get("id") for e in parsed(p).iter() if e.get("id")} for p in (first, second)]
    assert ids[0] and not ids[0] & ids[1]
    assert timeline(exchange()).svg() == first.svg()


def test_pictures_are_saved_as_svg_or_html_and_nothing_else(tmp_path):
    picture = timeline(exchange())
    assert ElementTree.parse(picture.save(tmp_path / "run.svg")).getroot().tag == f"{SVG}svg"
    assert "<!doctype html>" in picture.save(tmp_path / "run.html").read_text("utf-8")
    with pytest.raises(ValueError, match=r"run\.png: a picture is saved as \.svg or \.html"):
        picture.save(tmp_path / "run.png")
    for name in ("run.svg", "run.html"):
        with pytest.raises(FileNotFoundError, match="/none is not there: make it, or name another"):
            picture.save(tmp_path / "none" / name)
    assert not (tmp_path / "run.png").exists()


def test_a_notebook_gets_html_and_a_terminal_text():
    bundle = timeline(exchange())._repr_mimebundle_()
    assert set(bundle) == {"text/html", "text/plain"}
    assert bundle["text/plain"].splitlines()[-1].startswith("  1 → 0  [9] 1 element · 4 B")


def test_the_text_has_a_row_a_rank_within_its_width():
    for width in (60, 80, 120):
        lines = timeline(exchange()).text(width).splitlines()
        rows = [line for line in lines if line.startswith("rank ")]
        assert len(rows) == 2
        assert all(len(row) <= width for row in rows)
        assert "S" in rows[0] and "R" in rows[0] and rows[0].endswith("■")


def test_the_text_lists_what_never_came():
    records = world(2, RUNNING)
    add(records, 1, "recv", 0.002, None, 0)
    text = timeline(records).text()
    assert "0 → 1  1 element · 4 B  nothing sent; recv(src=0) at step:3" in text
    assert "?" * 20 in text


def test_a_long_idle_stretch_is_cut_out_with_its_length():
    records = world(2, end=2.010)
    for begin in (0.002, 0.004, 2.004, 2.006):
        for rank in range(2):
            add(records, rank, "all_reduce", begin, begin + 0.001)
    assert "// 2.00 s" in words(timeline(records))


@pytest.mark.parametrize("count", range(2, 40))
def test_steps_each_of_which_hides_the_next_are_drawn(count):
    """Each gap is ten times the next: one is left, and the cuts leave room for it."""
    moments = [1 - 10.0**-i for i in range(count)]
    scale = fit(moments, [], [], 0.0, 640.0, stretch=False)
    assert len(scale.breaks) < count - 1
    assert all(0 <= x <= 640 for x, _ in scale.ticks())
    assert sorted(map(scale, moments)) == list(map(scale, moments))


def test_a_long_wait_is_never_cut_out():
    records = world(2, end=2.010)
    add(records, 0, "all_reduce", 0.002, 2.004)
    add(records, 1, "all_reduce", 2.003, 2.004)
    assert not any(w.startswith("//") for w in words(timeline(records)))


def test_a_scale_is_linear_where_that_can_be_read():
    scale = fit([0.0, 0.4, 1.0], [(0.0, 1.0)], [(0.0, 0.4, 30)], 0, 100, stretch=True)
    assert scale.linear
    assert scale(0.4) == pytest.approx(40)
    assert scale.time(40) == pytest.approx(0.4)


def test_a_stretched_scale_keeps_the_order_and_gives_short_steps_their_room():
    times = [0.0, 1e-6, 2e-6, 1.0]
    needs = [(0.0, 1e-6, 80.0), (1e-6, 2e-6, 80.0)]
    scale = fit(times, [(0.0, 1.0)], needs, 0, 400, stretch=True)
    pixels = [scale(t) for t in times]
    assert not scale.linear
    assert pixels == sorted(pixels)
    assert pixels[1] - pixels[0] >= 80 and pixels[2] - pixels[1] >= 80
    assert pixels[-1] == pytest.approx(400)


def test_a_picture_that_is_not_to_scale_says_so():
    records = exchange()
    assert not any("not to scale" in word for word in words(timeline(records)))
    for record in records:
        record.end = 1.0
    add(records, 0, "barrier", 0.009, 0.99)
    add(records, 1, "barrier", 0.008, 0.99)
    assert any("not to scale" in word for word in words(timeline(records)))


def test_needs_beyond_the_width_are_eased_not_drawn_off_the_page():
    times = [i * 1e-6 for i in range(50)] + [1.0]
    needs = [(a, b, 100.0) for a, b in zip(times, times[1:], strict=False)]
    scale = fit(times, [(0.0, 1.0)], needs, 10, 500, stretch=True)
    assert scale(1.0) == pytest.approx(500)


def test_ticks_are_round_and_do_not_leave_the_picture():
    scale = fit([0.0, 0.0347], [(0.0, 1.0)], [], 0, 800, stretch=False)
    assert [label for _, label in scale.ticks()] == ["0", *(f"{n} ms" for n in range(5, 35, 5))]
    assert all(0 <= x <= 800 for x, _ in scale.ticks())


def test_ticks_of_a_stretched_scale_have_no_zeros_that_say_nothing():
    times = [0, 1e-3, 1.2e-3, 5e-3, 5.1e-3, 5.2e-3, 0.01, 0.02, 0.034]
    needs = [(a, b, 60.0) for a, b in zip(times, times[1:], strict=False)]
    scale = fit(times, [(0.0, 1.0)], needs, 0, 800, stretch=True)
    assert not scale.linear
    labels = [label for _, label in scale.ticks()]
    assert labels[:3] == ["0", "1 ms", "2.4 ms"] and "30 ms" in labels
    assert not [label for label in labels if re.search(r"\.\d*0 ", label)]


@pytest.mark.parametrize(
    ("seconds", "words_"), [(8.51e-5, "85.1 µs"), (0.0103, "10.3 ms"), (1.2, "1.20 s"), (0, "0 s")]
)
def test_durations_have_three_digits_and_a_fitting_unit(seconds, words_):
    assert duration(seconds) == words_


def ring(size, steps, way=1):
    records = world(size)
    for step in range(steps):
        for rank in range(size):
            begin = 0.002 + step * 1e-3
            add(records, rank, "recv", begin, begin + 5e-4, (rank - way) % size, count=2)
            add(records, rank, "send", begin, begin + 5e-4, (rank + way) % size, count=2)
    return records


@pytest.mark.parametrize("size", [2, 3, 4, 8])
@pytest.mark.parametrize("way", [1, -1])
def test_a_whole_ring_fills_every_chunk_on_every_rank(size, way):
    steps = ring_steps(ring(size, 2 * (size - 1), way), size)
    assert steps.complete
    assert len(steps.held) == 2 * (size - 1) + 1
    assert "every rank holds all chunks" in steps.summary


def test_after_the_reduce_scatter_rank_r_holds_chunk_r_plus_1():
    last = ring_steps(ring(4, 3), 4).held[-1]
    for rank in range(4):
        full = [chunk for chunk in range(4) if len(last[rank][chunk]) == 4]
        assert full == [(rank + 1) % 4]


def test_pictures_are_drawn_of_a_result_as_of_its_records():
    records = ring(4, 3)
    result = SimpleNamespace(records=records)
    assert ring_steps(result, 4).held == ring_steps(records, 4).held
    assert timeline(result).records == timeline(records).records


def test_an_all_gather_alone_starts_with_the_sums():
    assert ring_steps(ring(4, 3), 4, reduced=True).complete


def test_a_ring_that_stops_early_or_leaves_its_order_is_not_complete():
    assert not ring_steps(ring(4, 5), 4).complete
    across = ring_steps(ring(4, 6, way=2), 4)
    assert not across.complete
    assert any("not a neighbour in the ring" in tip for tip in tooltips(across))


def test_the_steps_can_be_read_in_a_terminal_and_seen_in_a_page():
    steps = ring_steps(ring(4, 6), 4, title="the ring")
    assert steps.text().splitlines()[-4].startswith("rank 0  1 1 1 1   1 1 1 2   1 1 3 2")
    found = words(steps)
    assert {"the ring", "start", "step 6", "rank 3"} <= set(found)
    with pytest.raises(ValueError, match="at least 1 chunk, not 0"):
        ring_steps(ring(2, 2), 0)


def test_drawing_imports_neither_torch_nor_matplotlib():
    code = (
        "import sys, distlab.viz.timeline, distlab.viz.chrome_trace;"
        "import distlab.course.lab04_ring_allreduce.ring_steps;"
        "sys.exit(bool({'torch', 'matplotlib'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60).returncode == 0


def test_a_message_that_travels_long_is_labelled_as_well():
    records = world(2, end=0.032)
    add(records, 0, "send", 0.009, 0.022, 1, value=7.0)
    add(records, 1, "recv", 0.0015, 0.012, 0, value=7.0)
    add(records, 1, "send", 0.0121, 0.022, 0, value=9.0)
    add(records, 0, "recv", 0.0221, 0.0318, 1, value=9.0)
    assert {"[7] 1 element · 4 B", "[9] 1 element · 4 B"} <= set(words(timeline(records)))


def test_a_picture_is_as_narrow_as_can_be_drawn_and_no_narrower():
    """Characters, as `text` has them, are no pixels."""
    for records in (exchange(), long_run(30), world(3), []):
        ElementTree.fromstring(timeline(records, width=LEAST_WIDTH).svg())
        with pytest.raises(ValueError, match="width=80 is too little"):
            timeline(records, width=80)
