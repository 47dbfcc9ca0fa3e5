"""Operations and amounts in words and short labels."""

import pytest
from recorded import event

from distlab.records import events
from distlab.records.wording import advice, contended, size_text


@pytest.mark.parametrize(
    ("nbytes", "text"),
    [
        (0, "0 B"), (4, "4 B"), (999, "999 B"), (1_000, "1 kB"), (1_536, "1.54 kB"),
        (999_499, "999 kB"), (999_500, "1 MB"), (999_600, "1 MB"), (4_500_000, "4.5 MB"),
        (999_999_999, "1 GB"), (123_456_789_012_345, "123457 GB"),
    ],
)  # fmt: skip
def test_bytes_are_told_in_a_unit_that_leaves_three_digits(nbytes, text):
    assert size_text(nbytes) == text


def beside(*others, **changes):
    """Records of a rank that waits in an all-reduce, and of which a thread has called another."""
    one = event(0, 0, "all_reduce", state=events.POSTED)
    told = {"op": "all_reduce", "thread": 1, "state": events.POSTED, **changes}
    other = event(0, 1, **told)
    return [events.RankRecord(0, 2, events.RUNNING, events=[one, other, *others])]


@pytest.mark.parametrize("changes", [{}, {"state": events.DONE, "end": 1.5}])
def test_two_threads_in_a_collective_of_one_group_are_told_of(changes):
    assert contended(beside(**changes)).startswith("Two threads of rank 0 are in a collective")
    assert advice(beside(**changes)) == contended(beside(**changes))


@pytest.mark.parametrize(("begin", "stands"), [(1.0, True), (9.9, False)])
def test_ranks_that_all_have_waited_long_when_they_were_ended_are_in_no_loop(begin, stands):
    ranks = [
        events.RankRecord(rank, 2, events.RUNNING, stopped=10.0, events=[
            event(rank, 0, "send", peer=1 - rank, state=events.POSTED, begin=one, wait_begin=one)
        ])
        for rank, one in enumerate((1.0, begin))
    ]  # fmt: skip
    assert advice(ranks).startswith("All of these ranks wait") == stands


def test_a_rank_that_has_begun_to_wait_only_now_may_be_in_a_loop():
    receive = event(0, 0, "recv", state=events.POSTED, begin=1.0, wait_begin=9.9)
    assert not advice([events.RankRecord(0, 2, events.RUNNING, stopped=10.0, events=[receive])])


def test_of_a_single_rank_that_waits_it_is_not_said_that_all_do():
    receive = event(0, 0, "recv", state=events.POSTED, begin=1.0)
    said = advice([events.RankRecord(0, 2, events.RUNNING, stopped=10.0, events=[receive])])
    assert said.startswith("What a rank waits for another one has to call")


@pytest.mark.parametrize(
    "changes",
    [
        {"thread": 0}, {"group_index": 1}, {"flags": 0},
        {"state": events.DONE, "begin": 0.2, "end": 0.5},
        {"op": "recv"}, {"tag": 7}, {"state": events.FAILED, "begin": 0.2, "end": 0.5},
    ],
    ids=[
        "one thread", "another group", "not waited for", "one after the other", "a message",
        "met by its name", "failed before",
    ],
)  # fmt: skip
def test_who_has_a_group_for_itself_is_told_nothing(changes):
    assert not contended(beside(**changes))


def test_threads_whose_collectives_have_ended_are_told_nothing():
    done = [event(0, n, "all_reduce", thread=n, end=2.0) for n in range(2)]
    assert not contended([events.RankRecord(0, 2, events.RETURNED, events=done)])
