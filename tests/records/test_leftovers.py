"""Can ranks go on with the connections of a run, by what its records say?"""

import pytest
from recorded import event

from distlab.records.events import DONE, FAILED, POSTED, RETURNED, RUNNING, RankRecord
from distlab.records.leftovers import all_met

SEND, RECV = ("send", {"peer": 1}), ("recv", {"peer": 0})
REDUCE, BARRIER = ("all_reduce", {}), ("barrier", {})


def records(*ranks, **more):
    made = []
    for rank, done in enumerate(ranks):
        events = [
            event(rank, at, op, **{"size": len(ranks), "state": DONE, **values})
            for at, (op, values) in enumerate(done)
        ]
        made.append(RankRecord(rank, len(ranks), RETURNED, events=events))
    for name, value in more.items():
        setattr(made[-1], name, value)
    return made


def other(operation, **values):
    op, before = operation
    return op, {**before, **values}


RIGHT = {
    "nothing": ([], []),
    "a message": ([SEND], [RECV]),
    "two of them, and both call the same": (
        [SEND, REDUCE, SEND, BARRIER],
        [RECV, REDUCE, RECV, BARRIER],
    ),
    "messages around collectives": ([SEND, REDUCE], [REDUCE, RECV]),
    "others in a group of some": ([other(REDUCE, group_index=1), BARRIER], [BARRIER]),
}
WRONG = {
    "a message that nobody takes": ([SEND], []),
    "one that nobody sent": ([], [RECV]),
    "one of another tag": ([SEND], [other(RECV, tag=1)]),
    "one from nobody knows whom": ([SEND], [other(RECV, peer=None)]),
    "two where one comes": ([SEND], [RECV, RECV]),
    "a collective of one rank": ([REDUCE], []),
    "others": ([REDUCE], [BARRIER]),
    "the same in another order": ([REDUCE, BARRIER], [BARRIER, REDUCE]),
    "one that has not ended": ([REDUCE], [other(REDUCE, state=POSTED)]),
    "one that failed on both": ([other(REDUCE, state=FAILED)],) * 2,
    "one under way in a group of some": ([other(REDUCE, group_index=1, state=POSTED)], []),
}


@pytest.mark.parametrize("ranks", RIGHT.values(), ids=RIGHT)
def test_where_all_has_met(ranks):
    assert all_met(records(*ranks))


@pytest.mark.parametrize("ranks", WRONG.values(), ids=WRONG)
def test_where_something_has_not(ranks):
    assert not all_met(records(*ranks))


@pytest.mark.parametrize(
    "more", [{"dropped": 1}, {"agents": 1}, {"pending": 1}, {"progress": RUNNING}], ids=str
)
def test_where_a_record_does_not_say_all(more):
    assert all_met(records([SEND], [RECV]))
    assert not all_met(records([SEND], [RECV], **more))
