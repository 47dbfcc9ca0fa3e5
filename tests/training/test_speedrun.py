"""What lets a network learn in fewer epochs: each option does what it says, and nothing else."""

import argparse
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from distlab import training
from distlab.training import augment, data, small_net, speedrun, speedups
from grader import coursedir

CPU = torch.device("cpu")
SCRIPT = coursedir.SOLUTIONS / "03-cifar10-ddp" / "resnet_ddp.py"


def arguments(*words):
    parser = argparse.ArgumentParser()
    training.training_flags(parser)
    training.flag(parser, "--weight-decay", type=float, default=1e-4)
    training.flag(parser, "--augment", action="store_true")
    speedups.flags(parser)
    speedrun.flags(parser)
    return parser.parse_args(words)


def images(n=12):
    """Images that are as many pixels brighter to the right as one can tell."""
    pixels = np.zeros((n, 32, 32, 3), dtype=np.uint8)
    pixels[:] = (np.arange(32) * 4 + 64)[None, None, :, None]
    return data.Images(pixels.__getitem__, np.arange(n) % 10)


class Numbers:
    """A set that can be pickled, of no images."""

    def __len__(self):
        return 4


def mirrored(batch):
    """For each image: is it brighter to the left?"""
    return (batch[:, 0, 16, 10] > batch[:, 0, 16, 21]).tolist()


def epochs(loader, count):
    """For each epoch, which image (by its place in the set) was seen mirrored."""
    found = []
    for epoch in range(count):
        loader.sampler.set_epoch(epoch)
        order = list(loader.sampler)
        seen = [side for batch, _ in loader for side in mirrored(batch)]
        found.append(dict(zip(order, seen, strict=True)))
    return found


@pytest.mark.parametrize("way", ["on the device", "one by one", "by workers that persist"])
def test_alternating_flips_show_every_image_both_ways_in_every_two_epochs(way):
    some, seen = images(), [{}, {}, {}, {}]
    for rank in range(2):  # images change ranks from epoch to epoch
        one_by_one = augment.Augmented(some, shift=2, seed=3)
        sampler = DistributedSampler(one_by_one, 2, rank, seed=5)
        one_by_one.sampler = sampler
        workers = {"num_workers": 1, "persistent_workers": True} if "workers" in way else {}
        loader = DataLoader(one_by_one, 4, sampler=sampler, **workers)
        if way == "on the device":
            kept = augment.OnDevice(some, CPU)
            loader = augment.Batches(loader, kept, seed=3, shift=2, alternate=True)
        for epoch, of_epoch in enumerate(epochs(loader, 4)):
            seen[epoch].update(of_epoch)
    assert all(set(one) == set(range(12)) for one in seen)
    for first, second in zip(seen, seen[1:], strict=False):
        assert all(first[image] != second[image] for image in range(12))
    assert seen[0] == seen[2] and 0 < sum(seen[0].values()) < 12


def test_the_sampler_of_alternating_flips_can_be_sent_to_workers():
    """Where workers are spawned they are sent the dataset, and its sampler with it."""
    here = augment.Augmented(Numbers(), seed=3)
    here.sampler = DistributedSampler(here, 1, 0)
    there = pickle.loads(pickle.dumps(here))
    there.sampler.set_epoch(5)
    assert (there.sampler.epoch, there.sampler.dataset) == (5, there) and here.sampler.epoch == 0


def test_random_flips_are_as_they_were():
    some = images(200)
    kept = augment.OnDevice(some, CPU)
    sampler = DistributedSampler(some, 1, 0, seed=5)
    loader = augment.Batches(DataLoader(some, 50, sampler=sampler), kept, seed=3)
    first, second = epochs(loader, 2)
    same = sum(first[image] == second[image] for image in range(200))
    assert 60 < same < 140


@pytest.mark.parametrize("shift", [0, 2, 4])
def test_images_are_shifted_by_so_many_pixels_at_most(shift):
    kept = augment.OnDevice(images(1), CPU)
    batch, _ = kept.batch(
        torch.zeros(400, dtype=torch.int64), torch.Generator().manual_seed(0), shift,
        torch.zeros(1, dtype=torch.bool),
    )  # fmt: skip
    values = data.normalised(torch.arange(256).view(-1, 1, 1, 1).expand(-1, 3, 1, 1))[:, 0, 0, 0]
    columns = {int((values - one).abs().argmin() - 64) // 4 - 16 for one in batch[:, 0, 16, 16]}
    assert columns == set(range(-shift, shift + 1))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.2, 0.9])
def test_smoothed_labels_give_torch_s_own_label_smoothing(share):
    generator = torch.Generator().manual_seed(0)
    logits, labels = torch.randn(16, 10, generator=generator), torch.arange(16) % 10
    ours = functional.cross_entropy(logits, speedrun.smoothed(labels, share, 10))
    torch.testing.assert_close(
        ours, functional.cross_entropy(logits, labels, label_smoothing=share)
    )


def test_a_loader_with_smoothed_labels_is_otherwise_as_before():
    some = images()
    sampler = DistributedSampler(some, 1, 0)
    plain = DataLoader(some, 4, sampler=sampler)
    loader = speedrun.Smoothed(plain, 0.2, 10)
    assert loader.sampler is sampler and len(loader) == 3
    for (ours, soft), (theirs, labels) in zip(loader, plain, strict=True):
        assert torch.equal(ours, theirs) and torch.equal(soft.argmax(1), labels)
        assert len(soft) == len(labels)
        torch.testing.assert_close(soft.sum(1), torch.ones(len(soft)))


def test_a_test_time_flip_guesses_alike_for_an_image_and_its_mirror_image():
    torch.manual_seed(0)
    net = small_net.SmallNet(10, (8, 12, 16)).eval()
    batch = torch.randn(5, 3, 32, 32)
    both = speedrun.Both(net)
    with torch.no_grad():
        torch.testing.assert_close(both(batch), both(batch.flip(-1)))
        torch.testing.assert_close(both(batch), (net(batch) + net(batch.flip(-1))) / 2)
        assert not torch.allclose(net(batch), net(batch.flip(-1)))
    assert not both.eval().model.training and both.train().model.training


def test_the_small_network_is_the_record_s_and_takes_any_number_of_classes():
    net = small_net.SmallNet(7)
    assert net(torch.randn(2, 3, 32, 32)).shape == (2, 7)
    convolutions = [one for one in net.modules() if isinstance(one, nn.Conv2d)]
    assert [tuple(one.weight.shape) for one in convolutions] == [
        (24, 3, 2, 2), (64, 24, 3, 3), (64, 64, 3, 3), (256, 64, 3, 3), (256, 256, 3, 3),
        (256, 256, 3, 3), (256, 256, 3, 3),
    ]  # fmt: skip
    first = net.blocks[0].conv1
    image = torch.randn(1, 24, 8, 8)
    torch.testing.assert_close(first(image)[:, :24], image)  # handed on unchanged


def test_groups_of_the_small_network_hold_each_trained_parameter_once():
    net = small_net.SmallNet(10, (8, 12, 16))
    net.first.weight.requires_grad_(False)
    wrapped = nn.ModuleDict({"module": net})  # names as they are inside DDP
    for model in (net, wrapped):
        groups = speedrun.small_groups(model, images=100)
        inside = [id(one) for group in groups for one in group["params"]]
        assert len(inside) == len(set(inside))
        assert set(inside) == {id(one) for one in net.parameters() if one.requires_grad}
        filters, first, shifts, head = groups
        assert filters["orthogonal"] and len(filters["params"]) == 6
        assert first["params"] == [net.first.bias] and first["until"] == 3 / 8
        assert head["params"] == [net.head.weight] and len(shifts["params"]) == 6
        # a sum's rate on a mean's gradient, and the same decay a step
        assert head["lr"] == pytest.approx(67)
        assert head["lr"] * head["weight_decay"] == pytest.approx(2e-4)


@pytest.mark.parametrize(
    ("words", "told"),
    [(["--flip", "alternating"], "add --augment"), (["--shift", "2"], "add --augment"),
     (["--model", "small", "--stem", "cifar"], "first layer of its own")],
)  # fmt: skip
def test_options_that_say_nothing_together_are_refused_in_a_sentence(words, told):
    with pytest.raises(training.Refused, match=told):
        speedrun.check(arguments(*words))


@pytest.mark.parametrize(
    "words", [["--label-smoothing", "1"], ["--label-smoothing", "-0.1"], ["--shift", "5"],
              ["--model", "large"], ["--warm-up", "0"]],
)  # fmt: skip
def test_values_that_make_no_sense_end_the_script_with_status_two(words, capsys):
    with pytest.raises(SystemExit) as ended:
        arguments(*words)
    assert ended.value.code == 2 and words[0] in capsys.readouterr().err


def test_whitening_takes_the_first_layer_of_either_network():
    from distlab.training.vision import models

    some = data.load(synthetic=True, limit=40, test_limit=1).train
    for net in (small_net.SmallNet(), speedups.cifar_stem(models.resnet18(num_classes=10))):
        speedrun.whiten(net, some)
        frozen = [name for name, one in net.named_parameters() if one.dim() == 4
                  and not one.requires_grad]  # fmt: skip
        assert frozen in (["first.weight"], ["conv1.weight"])
    with pytest.raises(training.Refused, match="has none"):
        speedrun.whiten(nn.Linear(3, 3), some)


def test_warming_up_leaves_model_and_optimizer_as_they_were():
    torch.manual_seed(0)
    net = small_net.SmallNet(10, (8, 12, 16))
    optimizer = speedrun.make_optimizer(net, arguments("--optimizer", "muon"), 0.9, 8)
    before = {name: one.clone() for name, one in net.state_dict().items()}
    batches = [(torch.randn(8, 3, 32, 32), torch.arange(8)) for _ in range(5)]
    seen = []

    def train(loader):
        for inputs, labels in loader:
            seen.append(len(labels))
            functional.cross_entropy(net(inputs), labels).backward()
            optimizer.step()

    speedrun.warm_up(train, net, optimizer, batches, 2)
    assert seen == [8, 8]
    assert all(torch.equal(before[name], one) for name, one in net.state_dict().items())
    assert not optimizer.state and all(one.grad is None for one in net.parameters())


def test_a_checkpoint_of_the_other_network_is_refused(tmp_path):
    path = tmp_path / "model.pth"
    torch.save({"model": small_net.SmallNet(10, (4, 4, 4)).state_dict()}, path)
    with pytest.raises(training.Refused, match="written with --model small"):
        speedrun.check_checkpoint(path, "resnet18")
    speedrun.check_checkpoint(path, "small")
    speedrun.check_checkpoint(tmp_path / "none.pth", "small")


def test_the_falling_schedule_begins_at_its_peak_and_ends_at_zero():
    rates = [training.falling(step, 200, 0.24) for step in range(200)]
    assert rates == sorted(rates, reverse=True)
    assert 0.239 < rates[0] < 0.24 and 0 < rates[-1] < 0.001


ALL = [
    "--model", "small", "--whiten", "--optimizer", "muon", "--schedule", "falling", "--augment",
    "--shift", "2", "--flip", "alternating", "--label-smoothing", "0.2", "--test-flip",
    "--on-device", "--channels-last", "--warm-up", "1",
]  # fmt: skip


@pytest.mark.long
@pytest.mark.slow  # starts torch in two processes, three times
def test_the_script_takes_all_options_together_and_a_resumed_run_ends_like_a_straight_one(tmp_path):
    def run(folder, *words):
        done = subprocess.run(
            [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
             str(SCRIPT), "--synthetic", "--limit", "64", "--batch-size", "16", "--num-epochs", "2",
             "--model-dir", str(folder), *ALL, *words],
            capture_output=True, text=True, timeout=300,
            env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"},
        )  # fmt: skip
        return done

    straight = run(tmp_path / "straight")
    assert straight.returncode == 0, straight.stderr
    with_stop = subprocess.Popen(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
         str(SCRIPT), "--synthetic", "--limit", "64", "--batch-size", "16", "--num-epochs", "2",
         "--model-dir", str(tmp_path / "stopped"), *ALL],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**os.environ, "GLOO_SOCKET_IFNAME": "lo"},
    )  # fmt: skip
    with with_stop:
        assert any("epoch 1/" in line for line in with_stop.stdout)
        with_stop.terminate()
    resumed = run(tmp_path / "stopped", "--resume")
    assert resumed.returncode == 0, resumed.stderr
    one, other = (
        torch.load(tmp_path / name / "resnet_distributed.pth")["model"]
        for name in ("straight", "stopped")
    )
    assert all(torch.equal(one[name], other[name]) for name in one)
    refused = run(tmp_path / "straight", "--resume", "--model", "resnet18")
    assert refused.returncode != 0
    assert "was written with --model small" in refused.stderr
