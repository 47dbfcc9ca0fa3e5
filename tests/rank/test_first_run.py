"""What a rank does in its first run that its zygote could have done for all of them."""

import json
import subprocess
import sys

CODE = """
import gc, json, os, sys, tempfile
from pathlib import Path

import cloudpickle

from distlab.processes import forkserver
from distlab.processes.entry_points import ROOM_PRELOAD, ROOM_PREPARE

for name in (*forkserver.PRELOAD, *ROOM_PRELOAD, *ROOM_PREPARE):
    forkserver.load_ahead(name)

from distlab.engines import runs
from distlab.engines.forked import ForkedEngines


def modules(rank, size):
    import sys

    import torch
    import torch.distributed as dist

    dist.all_reduce(torch.ones(1))
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


def test_a_new_rank_imports_nothing_that_all_of_them_need():
    """Each would import it for itself, in each exercise that is graded."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=True, timeout=300
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[], []]
