"""Inputs and new tensors of a harness on another device than the CPU."""

import torch

from distlab.rank import execute

META = torch.device("meta")  # the one other device that every machine has


def test_tensors_in_any_tree_are_moved_and_nothing_else_is_changed():
    tree = {"a": torch.ones(2), "b": [1, (torch.zeros(3), "x")], "c": None}
    moved = execute._moved(tree, META)
    assert moved["a"].device == moved["b"][1][0].device == META
    assert moved["b"][0] == 1 and moved["b"][1][1] == "x" and moved["c"] is None
    assert isinstance(moved["b"][1], tuple) and tree["a"].device.type == "cpu"


def test_new_tensors_are_made_there_during_the_call_alone():
    seen = execute._on(META, lambda *given: (torch.ones(1).device, given))(1, 2)
    assert seen == (META, (1, 2))
    assert torch.ones(1).device.type == "cpu"


def test_a_rank_has_the_gpu_of_its_place_on_its_machine(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert execute._own("cuda", 5) == torch.device("cuda", 1)
    assert execute._own("cpu", 5) == torch.device("cpu")
