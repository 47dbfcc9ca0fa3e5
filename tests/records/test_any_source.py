"""What receives from any source have taken is counted once for all who ask."""

import time

import pytest
from recorded import event

from distlab.records.events import ANY_SOURCE, DONE, POSTED, RETURNED, RankRecord
from distlab.records.lint import remarks

MANY = 10_000


def run_of(*rows):
    return [RankRecord(rank, 2, RETURNED, 1.0, 9.0, row) for rank, row in enumerate(rows)]


@pytest.mark.parametrize(("state", "source"), [(DONE, 1), (POSTED, None)])
def test_many_receives_from_anybody_take_no_time_by_the_square_of_them(state, source):
    took = [event(0, n, "recv", peer=source, flags=ANY_SOURCE, state=state) for n in range(MANY)]
    sent = [event(1, n, "send", peer=0, state=state, line=1) for n in range(MANY)]
    sent.append(event(1, MANY, "send", peer=0, state=POSTED, line=1))
    begin = time.process_time()
    said = [one.sentence for one in remarks(run_of(took, sent)) if one.kind == "unreceived"]
    assert time.process_time() - begin < 5  # 40 s where each is counted from the beginning
    assert said == ["rank 1's send(dst=0) at f:1 was never received."]


def test_many_groups_take_no_time_by_the_square_of_them():
    made = [
        [event(rank, n, "new_group", group_index=n + 1, line=1) for n in range(MANY // (1 + rank))]
        for rank in (0, 1)
    ]
    begin = time.process_time()
    found = [one for one in remarks(run_of(*made)) if one.kind == "new_group"]
    assert time.process_time() - begin < 5  # 12 s where each is looked for from the beginning
    assert len(found) == MANY // 2 and found[0].ranks == (1,)
