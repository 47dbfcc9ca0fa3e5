"""What scripts have of a launcher."""

import os

import pytest
import torch
import torch.distributed as dist

from distlab import training
from distlab.processes import machine
from distlab.rank import world


@pytest.fixture
def joined(monkeypatch):
    """Start a script with these variables; the back end that it takes, and what it sets."""
    threads = torch.get_num_threads()

    def start(variables):
        backends = []
        env = dict(variables)
        monkeypatch.setattr(os, "environ", env)
        monkeypatch.setattr(dist, "init_process_group", lambda name, **_: backends.append(name))
        monkeypatch.setattr(dist, "destroy_process_group", lambda: None)
        with training.started() as here:
            return here, backends[0], env

    yield start
    torch.set_num_threads(threads)


@pytest.mark.parametrize(("told", "most"), [("1,3(x2)", "3"), ("2(x3),1", "2"), ("4", "4")])
def test_under_slurm_all_ranks_share_as_those_of_the_fullest_node_do(
    joined, monkeypatch, told, most
):
    monkeypatch.setattr(world, "gpu_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "set_device", lambda device: None)
    monkeypatch.setattr(machine, "cores", lambda: 6)
    slurm = {
        "SLURM_PROCID": "1", "SLURM_NTASKS": "7", "SLURM_LOCALID": "0", "SLURM_NNODES": "3",
        "SLURM_TASKS_PER_NODE": told, "MASTER_ADDR": "n1",
    }  # fmt: skip
    here, backend, env = joined(slurm)
    assert (here.rank, here.size, here.local_rank) == (1, 7, 0)
    assert env["LOCAL_WORLD_SIZE"] == most
    assert backend == ("nccl" if int(most) <= 2 else "gloo")
    assert torch.get_num_threads() == 6 // int(most)


def test_a_script_that_is_started_plainly_is_a_world_of_one(joined):
    here, _, env = joined({})
    assert (here.rank, here.size, here.local_rank) == (0, 1, 0) and not env
