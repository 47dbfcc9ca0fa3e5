"""What a rank does in its first run that its zygote could have done for all of them."""

import json
import subprocess
import sys

CODE = """
import gc, json, os, sys, tempfile
from pathlib import Path

import cloudpickle

from distlab.processes import forkserver
from distlab.processes.zygote import NEEDED, PRELOAD
from distlab.processes.entry_points import ROOM_PRELOAD, ROOM_PREPARE

early = PRELOAD[: PRELOAD.index(NEEDED) + 1]
complete = (*PRELOAD, *ROOM_PRELOAD, *ROOM_PREPARE)
for name in early if sys.argv[1] == "early" else complete:
    forkserver.load_ahead(name)

from distlab.engines import runs
from distlab.engines.forked import ForkedEngines


def modules(rank, size):
    import sys

    import torch
    import torch.distributed as dist

    dist.all_reduce(torch.ones(1))
    received = torch.empty(1)
    requests = dist.isend(torch.ones(1), 1 - rank), dist.irecv(received, 1 - rank)
    torch.ones(1) + 1  # while they are under way
    for request in requests:
        request.wait()
    return set(sys.modules)


with tempfile.TemporaryDirectory() as folder:
    engines = ForkedEngines(2, Path(folder))
    try:
        inputs = [cloudpickle.dumps(((rank, 2), {})) for rank in range(2)]
        for _ in range(2):
            run = runs.drive(engines, cloudpickle.dumps(modules), inputs)
            found = set().union(*(cloudpickle.loads(one.output) for one in run.outcomes))
            print(json.dumps(sorted(found - set(sys.modules))))
    finally:
        engines.close()
"""


def imported(source):
    """Modules that ranks import in their first run and their second, forked from such a source."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, source], capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_a_new_rank_imports_nothing_that_all_of_them_need():
    """Each would import it for itself, in each exercise that is graded."""
    assert imported("complete") == [[], []]


def test_a_rank_that_is_forked_early_sends_and_receives_without_what_takes_seconds_to_import():
    assert imported("early") == [[], []]
