"""What records say and what went over the network: when do they differ?"""

import random
from collections import Counter

import pytest
from recorded import record

from distlab.checking.doubts import doubts
from distlab.network.seen import Seen
from distlab.records import reading
from distlab.records.events import DONE, HEADER_BYTES, OP_CODE, POSTED, RankRecord

SIZE = 3


def event(rank, op, peer=-1, nbytes=16, state=DONE, **about):
    """One event of a record, as it is read."""
    data = record(rank, SIZE, op=OP_CODE[op], peer=peer, nbytes=nbytes, state=state, **about)
    (read,) = reading.checked(data, rank, SIZE).events
    return read


def found(*events, dropped=0, unrecorded=False, **seen):
    run = [
        RankRecord(rank, SIZE, events=[e for e in events if e.rank == rank], dropped=dropped)
        for rank in range(SIZE)
    ]
    counters = ("messages", "calls", "volumes", "foreign")
    about = {name: Counter(seen.pop(name, {})) for name in counters}
    return doubts(run, Seen(**about, sent=seen.pop("sent", [10**6] * SIZE), **seen), unrecorded)


SENT = event(0, "send", 1), event(1, "recv", 0)
EVERYBODY = [event(rank, "all_reduce") for rank in range(SIZE)]
RING = {(0, 1, "all_reduce"): 1, (1, 2, "all_reduce"): 1, (2, 0, "all_reduce"): 1}
BYTES = dict.fromkeys(RING, 22)


def test_nothing_is_doubted_where_both_say_the_same():
    assert found() == []
    assert found(*SENT, messages={(0, 1, 16): 1}) == []
    assert found(*EVERYBODY, calls=RING, volumes=BYTES) == []


def test_a_message_must_have_been_sent():
    assert found(*SENT) == [
        "the record of rank 0 has a message to rank 1 that was not sent",
        "the record of rank 1 has a message from rank 0 that was not sent",
    ]
    assert found(*SENT, messages={(1, 0, 16): 1, (0, 2, 16): 1})
    assert found(*SENT, messages={(0, 1, 12): 1})
    assert found(*SENT, *SENT, messages={(0, 1, 16): 1})


def test_a_message_that_nobody_has_waited_for_may_never_be_sent():
    assert found(event(0, "send", 1, state=POSTED)) == []


def test_what_arrives_may_be_smaller_than_its_buffer():
    assert found(SENT[0], event(1, "recv", 0, nbytes=4000), messages={(0, 1, 16): 1}) == []


def test_a_message_must_have_been_recorded_with_its_size():
    assert found(messages={(0, 1, 16): 1}) == [
        "rank 0 sent rank 1 a message that its record does not have"
    ]
    assert found(*SENT, messages={(0, 1, 16): 2})
    assert found(*SENT, messages={(0, 1, 16): 1, (0, 1, 4): 1})
    assert found(*SENT, event(0, "send", 1, nbytes=4), messages={(0, 1, 16): 2})


def test_a_monitored_barrier_is_made_of_small_messages():
    waits = [event(rank, "barrier", api=b"monitored_barrier") for rank in range(SIZE)]
    both_ways = {(0, 1, 4): 1, (0, 2, 4): 1, (1, 0, 4): 1, (2, 0, 4): 1}
    assert found(*waits, messages=both_ways) == []
    assert found(*waits, *SENT, messages=both_ways | {(0, 1, 16): 1}) == []
    assert found(*waits, messages=both_ways | {(0, 1, 400): 1})


def test_a_collective_must_have_taken_place_with_its_bytes():
    assert found(*EVERYBODY)[0] == "the record of rank 0 has an all_reduce that did not take place"
    assert found(*EVERYBODY, calls=RING, volumes=dict.fromkeys(RING, 15))
    assert found(*EVERYBODY, *EVERYBODY, calls=RING, volumes=BYTES)


@pytest.mark.parametrize(
    ("op", "volumes"),
    [
        ("broadcast", {(0, 1): 16, (0, 2): 16}), ("scatter", {(0, 1): 16, (0, 2): 16}),
        ("broadcast", {(0, 1): 16, (1, 2): 16}), ("gather", {(1, 0): 16, (2, 0): 16}),
        ("reduce", {(1, 0): 16, (2, 1): 16}), ("all_gather", {(0, 1): 32, (1, 2): 32, (2, 0): 32}),
        ("reduce_scatter", {(0, 1): 22, (1, 2): 22, (2, 0): 22}), ("all_to_all", {(0, 1): 5}),
        ("barrier", {(0, 1): 0, (1, 2): 0, (2, 0): 0}),
    ],
)  # fmt: skip
def test_each_collective_sends_so_much_and_not_without_a_record(op, volumes):
    root = -1 if op in ("all_gather", "reduce_scatter", "all_to_all", "barrier") else 0
    events = [event(rank, op, root) for rank in range(SIZE)]
    kind = "all_reduce" if op == "reduce_scatter" else op
    seen = {
        "volumes": {(*pair, kind): size for pair, size in volumes.items()},
        "calls": {(*pair, kind): 1 for pair in volumes},
    }
    assert found(*events, **seen) == []
    assert found(**seen)
    if op not in ("all_to_all", "barrier"):
        assert found(*events, calls=seen["calls"])


def test_a_group_of_one_sends_nothing():
    alone = event(0, "all_reduce")
    alone.group = (0,)
    assert found(alone) == []


def test_no_call_is_without_a_record_but_the_courses_own():
    twice = dict.fromkeys(RING, 2)
    assert found(*EVERYBODY, calls=twice, volumes=BYTES) == [
        "ranks 0 and 1 took part in an all_reduce that their records do not have",
        "ranks 1 and 2 took part in an all_reduce that their records do not have",
        "ranks 0 and 2 took part in an all_reduce that their records do not have",
    ]
    assert found(*EVERYBODY, calls=twice, volumes=BYTES, unrecorded=True) == []


def test_of_several_tensors_each_may_be_a_call():
    events = [event(rank, "all_reduce", pieces=3, nbytes=48) for rank in range(SIZE)]
    assert found(*events, calls=dict.fromkeys(RING, 3), volumes=BYTES) == []


def test_whatever_else_went_over_the_network_is_doubted():
    assert found(foreign={(2, 0): 1}) == [
        "ranks 0 and 2 exchanged data over a connection that is none of torch.distributed's"
    ]


def test_where_packets_are_missing_only_what_was_seen_counts():
    assert found(*SENT, *EVERYBODY, lost=1) == []
    assert found(*SENT, messages={(0, 1, 16): 2}, lost=1)
    assert found(calls=RING, lost=1)
    assert found(foreign={(2, 0): 1}, lost=1)


def test_where_packets_are_missing_the_kernel_has_counted_all_the_same():
    assert found(*SENT, lost=1, sent=[15, 0, 0]) == ["rank 0 sent less than its record has"]
    assert found(*SENT, lost=1, sent=[500, 0, 0]) == []


def test_whoever_loses_packets_by_sending_masses_has_sent_them():
    masses = [10**8, 0, 0]
    assert found(event(0, "send", 1, nbytes=1 << 20), event(1, "recv", 0), lost=9, sent=masses) == [
        "rank 0 sent far more than its record has"
    ]
    honest = [event(rank, "all_reduce", nbytes=1 << 23) for rank in range(SIZE)]
    assert found(*honest, lost=9, sent=[2 << 24] * SIZE) == []
    assert found(*SENT, lost=9, sent=masses, unrecorded=True) == []
    assert found(*SENT, lost=9, sent=masses, dropped=1) == []


def test_a_record_that_is_cut_is_believed_where_so_much_was_sent():
    assert found(*SENT, messages={(0, 1, 16): 100_000}, dropped=1) == [
        "the record of rank 2 counts operations that did not take place"
    ]
    assert len(found(*SENT, messages={(0, 1, 16): 100}, dropped=1)) == 3


def test_what_was_seen_travels_as_data():
    seen = Seen(
        Counter({(0, 1, 16): 2}), Counter(RING), Counter(BYTES), Counter({(1, 0): 3}), [1, 2, 3], 4,
        ["a doubt"],
    )  # fmt: skip
    assert Seen.of(seen.tree()) == seen


@pytest.mark.parametrize("change", [{"sent": 3}, {"messages": [[1]]}, {"lost": None}, {"calls": 1}])
def test_what_is_none_is_refused(change):
    with pytest.raises((ValueError, TypeError, KeyError)):
        Seen.of({**Seen().tree(), **change})


def test_no_record_is_too_strange_to_be_compared():
    chance = random.Random(1)
    for _ in range(300):
        run = []
        for rank in range(SIZE):
            data = bytearray(record(rank, SIZE, op=chance.randrange(1, 13)))
            for _ in range(chance.randrange(1, 30)):
                at = chance.randrange(HEADER_BYTES, len(data))
                data[at] = chance.randrange(256)
            run.append(reading.checked(bytes(data), rank, SIZE))
        seen = Seen(Counter({(0, 1, 16): 1}), Counter(RING), Counter(BYTES), sent=[0] * SIZE)
        assert all(isinstance(said, str) for said in doubts(run, seen))
