"""Horovod on ranks: what it does there is recorded."""

import optional
import pytest

from distlab import Ranks, with_horovod
from distlab.engines import ranks


@pytest.mark.parametrize("lab", [optional.here("07-horovod")])
def test_a_rank_that_was_forked_before_horovod_was_imported_records_it_too(lab, monkeypatch):
    def rank_0_alone_averages(rank, size):
        import horovod.torch as hvd
        import torch

        if rank == 0:
            hvd.allreduce(torch.ones(1), name="loss")

    ranks.end_local()
    monkeypatch.setattr(ranks.frameworks, "preload", lambda: ())
    try:
        result = Ranks(2).run(with_horovod(rank_0_alone_averages), may_fail=True, deadline=30)
    finally:
        ranks.end_local()
    assert "rank 0 waits in allreduce(name=loss)" in result.story()
    assert "rank 1 has already returned without calling it" in result.story()
