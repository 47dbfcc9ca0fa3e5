"""What could have gone otherwise is found in bounded time and memory, whatever ranks noted."""

import tracemalloc
from dataclasses import replace

from recorded import event

from distlab.records import causality
from distlab.records.events import AGAIN, ANY_SOURCE, FAILED, RETURNED, RankRecord

SIZE = 3


def _run(rows):
    """Rank 0 takes a message from anybody, which another rank could have sent as well."""
    return [RankRecord(rank, SIZE, RETURNED, 1.0, 9.0, row) for rank, row in enumerate(rows)]


def _message(rank, index, op, peer, begin, **changes):
    return event(
        rank, index, op, SIZE, peer, begin=begin, end=begin + 0.1, wait_begin=0.0, **changes
    )


def _from_anybody():
    return [
        [_message(0, 0, "recv", 1, 2.0, flags=ANY_SOURCE)],
        [_message(1, 0, "send", 0, 2.0)],
        [_message(2, 0, "send", 0, 2.0)],
    ]


def test_a_message_that_does_not_come_after_the_receive_could_have_taken_its_place():
    (choice,) = causality.choices(_run(_from_anybody()))
    assert choice.alternatives == {2: False}


def test_who_looks_at_a_key_comes_after_all_who_have_written_it():
    rows = _from_anybody()
    rows[2][0].begin, rows[2][0].end = 5.0, 5.1
    for writers in ([0], [0, 1], [1, 0]):  # rank 0 after it has received: rank 2 waits for that
        causes = [[], [], [(4.0, "get", "k")]]
        for place, writer in enumerate(writers):
            causes[writer].append((3.0 + place / 10, "set", "k"))
        (choice,) = causality.choices(_run(rows), causes)
        assert choice.alternatives == {}, writers
    (choice,) = causality.choices(_run(rows), [[(3.0, "set", "k")], [], [(4.0, "get", "other")]])
    assert choice.alternatives == {2: False}


def test_a_rank_that_notes_much_of_the_store_takes_no_memory_by_the_square_of_it():
    causes = [[(3.0, "set", "k")] * 2_000, [(4.0, "get", "k")] * 2_000, []]
    tracemalloc.start()
    try:
        (choice,) = causality.choices(_run(_from_anybody()), causes)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert choice.alternatives == {2: False}
    assert most < 20 << 20  # a list of all writers for each look takes 100 MB


def test_a_second_wait_for_a_polled_request_is_no_choice_of_its_own():
    rows = _from_anybody()
    rows[1].append(_message(1, 1, "recv", 2, 3.0, polled=3.1, polls=1))
    rows[1].append(replace(rows[1][1], index=2, flags=AGAIN, state=FAILED))
    rows[2].append(_message(2, 1, "send", 1, 3.0))
    rows[0].append(replace(rows[0][0], index=1, flags=ANY_SOURCE | AGAIN, state=FAILED))
    source, poll = causality.choices(_run(rows))
    assert (source.event, poll.event) == (rows[0][0], rows[1][1])


def test_times_that_contradict_each_other_are_said_to_do_so():
    rows, moment = _from_anybody(), 100.0
    for row, at in zip(rows, (98.0, 1.0, 1.0), strict=True):
        row[0].begin, row[0].end = at, at + 0.1
    for hop in range(98):  # each message is noted as received a second before it was sent
        source, target = hop % 2, (hop + 1) % 2
        rows[source].append(_message(source, hop + 1, "send", target, moment, tag=hop + 1))
        moment -= 1
        rows[target].append(_message(target, hop + 1, "recv", source, moment - 0.5, tag=hop + 1))
    assert causality.choices(_run(rows)) == "the times of the ranks contradict each other"


def test_a_run_of_very_many_choices_is_not_looked_into():
    rows = [[], [], [_message(2, 0, "send", 0, 2.0)]]
    for number in range(causality.MOST_CHOICES + 1):
        begin = 2.0 + number
        rows[0].append(_message(0, number, "recv", 1, begin, flags=ANY_SOURCE))
        rows[1].append(_message(1, number, "send", 0, begin))
    assert causality.choices(_run(rows)) == causality.TOO_MUCH
