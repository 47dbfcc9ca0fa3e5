"""What a cluster's profile has left in the environment is not what ranks here need."""

import os

import pytest
import torch
import torch.distributed as dist

from distlab import Ranks, output_of
from distlab.engines.ranks import end_local
from distlab.processes import environment

#: for jobs on a cluster: an interface that is not here, a transport that gloo here does not have,
#: and stack traces that take longer to be made than a run may take
LEFT = {
    "GLOO_SOCKET_IFNAME": "ib7",
    "GLOO_DEVICE_TRANSPORT": "TCP_TLS",
    "TORCH_SHOW_CPP_STACKTRACES": "1",
}


@pytest.fixture
def left(monkeypatch):
    end_local()
    for name, value in LEFT.items():
        monkeypatch.setenv(name, value)
    yield
    end_local()


def test_ranks_here_meet_whatever_a_cluster_s_profile_says(left):
    def summed(rank, size):
        tensor = torch.ones(1)
        dist.all_reduce(tensor)
        return tensor.item(), os.environ["TORCH_SHOW_CPP_STACKTRACES"]

    assert list(Ranks(2).run(summed)) == [(2.0, "0")] * 2


def test_a_command_is_told_an_interface_that_is_here(left, monkeypatch):
    said = "print(__import__('os').environ['GLOO_SOCKET_IFNAME'])"
    assert output_of(f"python -c {said}")[0].split() == [environment.loopback()]
    for asked in (environment.loopback(), ",".join([environment.loopback()] * 2)):
        monkeypatch.setenv("GLOO_SOCKET_IFNAME", asked)
        assert output_of(f"python -c {said}")[0].split() == [asked]
