"""A rank that waits outside torch.distributed is told with its line, one that computes is not."""

import sys
import threading

import cloudpickle

from distlab import Ranks

cloudpickle.register_pickle_by_value(sys.modules[__name__])


def waits_for_a_dead_thread(rank, size):
    if rank == 0:
        while True:
            sum(range(1000))
    lock = threading.Lock()
    thread = threading.Thread(target=lock.acquire)
    thread.start()
    thread.join()
    lock.acquire()  # here


def test_a_rank_that_waits_for_a_lock_is_told_with_its_line(ranks):
    result = Ranks(2, deadline=6).run(waits_for_a_dead_thread, may_fail=True)
    first = waits_for_a_dead_thread.__code__.co_firstlineno
    told = result.story()
    assert (
        f"rank 1 stood still outside torch.distributed at {waits_for_a_dead_thread.__name__}:"
        in told
    )
    assert f":{first + 8}: it did not compute" in told
    assert "rank 0 was computing" in told
