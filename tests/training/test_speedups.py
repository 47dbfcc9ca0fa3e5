"""The training script's options: what they change, what they must not, and what is refused."""

import importlib.util
import os
import re
import subprocess
import sys

import pytest
import torch

from distlab import training
from distlab.training import speedups
from grader import coursedir

SCRIPT = coursedir.SOLUTIONS / "03-cifar10-ddp" / "resnet_ddp.py"
LOOPBACK = {**os.environ, "GLOO_SOCKET_IFNAME": "lo"}
SMALL = ["--synthetic", "--limit", "96", "--batch-size", "16", "--learning-rate", "0.01"]
ONE_STEP = ["--synthetic", "--limit", "32", "--batch-size", "16"]


def command(folder, words, size=2):
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    return [*torchrun, f"--nproc-per-node={size}", str(SCRIPT), "--model-dir", str(folder), *words]


def script(folder, *words, size=2):
    """The script under torchrun: its exit status, the lines that it printed, and its errors."""
    done = subprocess.run(
        command(folder, words, size), capture_output=True, text=True, timeout=280, env=LOOPBACK
    )
    return done.returncode, re.split(r"[\r\n]+", done.stdout), done.stderr


def stopped_after_an_epoch(folder, *words):
    """Start the script, and end it once it has told of its first epoch."""
    with subprocess.Popen(
        command(folder, words), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env=LOOPBACK,
    ) as running:  # fmt: skip
        assert any("epoch 1/" in line for line in running.stdout)
        running.terminate()


def imported(path=str(SCRIPT)):
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("resnet_ddp", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def losses(lines):
    return [float(loss) for loss in re.findall(r"loss (\d+\.\d+)", "\n".join(lines))]


def trained(rank, size, words, path=str(SCRIPT)):
    """What one epoch of the script's functions gives: loss, weights, and how DDP was set."""
    from pathlib import Path

    from distlab import notebook
    from distlab.rank import world
    from distlab.training import data

    torch.set_num_threads(training.threads(size))
    module = imported(path)
    args = module.arguments(words)
    lab = notebook.load(Path(path).with_name("cifar10_ddp.ipynb"))
    split = data.load(synthetic=True, limit=args.limit, test_limit=8)
    device = world.here().device
    model, optimizer, loader = module.make_training(lab, args, split, rank, size, device)
    loss = lab.train_epoch(model, loader, optimizer, device, 0)
    weights = {name: one.detach().clone() for name, one in model.module.named_parameters()}
    return loss, weights, model.bucket_bytes_cap, model.static_graph


@pytest.fixture(scope="module")
def plain(ranks_of_two):
    return ranks_of_two.run(trained, ONE_STEP, deadline=120)[0]


@pytest.fixture(scope="module")
def ranks_of_two():
    import cloudpickle

    from distlab import Ranks

    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    yield Ranks(2, deadline=120)
    cloudpickle.unregister_pickle_by_value(sys.modules[__name__])


@pytest.mark.parametrize("option", ["--on-device", "--static-graph", "--bucket-mb 1"])
def test_what_only_moves_data_trains_bit_for_bit_as_before(option, plain, ranks_of_two):
    loss, weights, cap, static = ranks_of_two.run(
        trained, [*ONE_STEP, *option.split()], deadline=120
    )[0]
    assert loss == plain[0]
    assert all(torch.equal(weights[name], one) for name, one in plain[1].items())
    assert static == (option == "--static-graph")
    assert (cap == 1 << 20) == (option == "--bucket-mb 1")


@pytest.mark.parametrize(
    "option", ["--channels-last", "--fused", "--on-device --channels-last --fused --static-graph"]
)
def test_what_only_computes_otherwise_trains_alike(option, plain, ranks_of_two):
    loss, weights, *_ = ranks_of_two.run(trained, [*ONE_STEP, *option.split()], deadline=120)[0]
    assert loss == pytest.approx(plain[0], rel=1e-4)
    assert weights.keys() == plain[1].keys()
    # the last layer's step: further down a ReLU whose input rounds to the other side of 0 shows
    torch.testing.assert_close(weights["fc.weight"], plain[1]["fc.weight"], rtol=1e-3, atol=1e-4)


def test_a_second_wrapping_leaves_no_hook_of_the_first(ranks_of_two):
    def reductions(rank, size):
        from torch.nn.parallel import DistributedDataParallel

        model = DistributedDataParallel(torch.nn.Linear(4, 4))
        model = speedups.with_settings(model, bucket_mb=3)
        for _ in range(2):
            model(torch.full((2, 4), rank + 1.0)).sum().backward()
            found = model.module.weight.grad.clone()
            model.zero_grad()
        return found

    run = ranks_of_two.run(reductions)
    assert torch.equal(run[0], torch.full((4, 4), 3.0)) and torch.equal(run[0], run[1])
    sums = [e for e in run.records[0].events if e.op == "all_reduce"]
    assert len(sums) == 2, "one bucket, reduced once a step"


def test_autocast_computes_in_bfloat16_and_returns_float32_from_today_s_weights():
    torch.manual_seed(0)
    seen = []
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Linear(8, 4))
    net[0].register_forward_hook(lambda module, inputs, output: seen.append(output.dtype))
    exact = net(batch := torch.randn(16, 8))
    model = speedups.mixed_precision(net, torch.device("cpu"))
    assert model(batch).dtype == torch.float32 and seen == [torch.float32, torch.bfloat16]
    torch.testing.assert_close(model(batch), exact, rtol=0.05, atol=0.05)
    with torch.no_grad():
        net[1].weight.zero_()
        net[1].bias.fill_(2.0)
    assert torch.equal(model(batch), torch.full((16, 4), 2.0))
    assert all(one.dtype == torch.float32 for one in model.parameters())


def test_the_stem_for_small_images_keeps_all_of_them():
    from distlab.training.vision import models

    torch.manual_seed(0)
    model = speedups.cifar_stem(models.resnet18(num_classes=10))
    sizes = []
    model.layer1.register_forward_hook(lambda module, inputs, output: sizes.append(output.shape))
    assert model(torch.randn(2, 3, 32, 32)).shape == (2, 10)
    assert sizes == [(2, 64, 32, 32)]
    with pytest.raises(training.Refused, match="this model is none"):
        speedups.cifar_stem(torch.nn.Linear(1, 1))


@pytest.mark.long
@pytest.mark.slow  # compiles: half a minute and more
def test_compiled_it_trains_alike_and_evaluates_as_before(plain, ranks_of_two):
    words = [*ONE_STEP, "--compile", "--static-graph", "--bucket-mb", "5"]
    loss, weights, *_ = ranks_of_two.run(trained, words, deadline=500)[0]
    assert loss == pytest.approx(plain[0], rel=1e-4)
    torch.testing.assert_close(weights["fc.weight"], plain[1]["fc.weight"], rtol=1e-3, atol=1e-4)


@pytest.mark.long
@pytest.mark.slow  # compiles
def test_autocast_is_compiled_as_well_and_evaluation_is_not():
    from torch._dynamo.utils import counters

    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU(), torch.nn.Linear(8, 4))
    exact = net(batch := torch.randn(16, 8))
    speedups.compile_training(speedups.mixed_precision(net, torch.device("cpu")))
    counters.clear()
    torch.testing.assert_close(net.eval()(batch), exact, rtol=0.05, atol=0.05)
    assert counters["stats"]["unique_graphs"] == 0
    outputs = net.train()(batch)
    outputs.sum().backward()
    assert outputs.dtype == torch.float32 and counters["stats"]["unique_graphs"] == 1
    torch.testing.assert_close(outputs, exact, rtol=0.05, atol=0.05)


@pytest.mark.parametrize(
    ("cores", "size", "local", "asked", "each"),
    [(8, 2, None, None, 4), (8, 3, None, None, 2), (2, 4, None, None, 1), (8, 4, 2, None, 4),
     (8, 2, None, 3, 3), (2, 4, None, 1, 1)],
)  # fmt: skip
def test_threads_are_divided_among_the_ranks_of_a_machine(
    monkeypatch, cores, size, local, asked, each
):
    monkeypatch.setattr(training.machine, "cores", lambda: cores)
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    if local:
        monkeypatch.setenv("LOCAL_WORLD_SIZE", str(local))
    assert training.threads(size, asked) == each


def test_more_threads_than_cores_are_refused(monkeypatch):
    monkeypatch.setattr(training.machine, "cores", lambda: 8)
    monkeypatch.delenv("LOCAL_WORLD_SIZE", raising=False)
    with pytest.raises(training.Refused, match="take 2 or fewer"):
        training.threads(4, 3)


def test_goals_are_told_once_and_what_was_missed_at_the_end():
    goals = training.Goals((0.94, 0.93))
    assert goals.after(10, 0.92) == []
    (line,) = goals.after(10, 0.931)
    assert line.startswith("93% test accuracy reached after 20.0 s of training (")
    assert goals.after(5, 0.935) == []
    (missed,) = goals.missed()
    assert missed == "94% test accuracy not reached in 25.0 s of training: the best was 93.50%\n"
    assert len(goals.after(1, 0.95)) == 1 and goals.missed() == []


def test_both_goals_may_be_reached_at_once_and_a_resumed_run_says_so():
    goals = training.Goals((0.93, 0.94), first=3)
    assert ["since epoch 4" in line for line in goals.after(2, 0.96)] == [True, True]


def test_the_triangle_rises_for_a_fifth_and_ends_at_zero():
    rates = [training.triangle(step, 100, 0.5) for step in range(100)]
    assert rates.index(max(rates)) in (19, 20) and max(rates) <= 0.5
    assert rates == sorted(rates[:20]) + sorted(rates[20:], reverse=True)
    assert min(rates) > 0 and rates[-1] < 0.005


def test_the_seeds_of_epochs_and_ranks_differ_and_repeat():
    every = {training.epoch_seed(s, e, r) for s in range(4) for e in range(8) for r in range(8)}
    assert len(every) == 256
    assert training.epoch_seed(0, 1, 2) == training.epoch_seed(0, 1, 2)


def refused(words, device="cpu"):
    with pytest.raises(training.Refused) as told:
        speedups.check(imported().arguments(words), torch.device(device))
    return str(told.value)


def test_compiling_is_refused_where_it_cannot_work(monkeypatch):
    assert "no GPU here" in refused(["--compile", "reduce-overhead"])
    assert "--bucket-mb 0.5 is too small" in refused(["--compile", "--bucket-mb", "0.5"])
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert "install g++" in refused(["--compile"])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--bucket-mb", "0"], "--bucket_mb: 0 is no finite number above 0"),
        (["--bucket-mb", "inf"], "--bucket_mb: inf is no finite number above 0"),
        (["--bucket-mb", "much"], "--bucket_mb: invalid float value: 'much'"),
        (["--batch-size", "-1"], "--batch_size: -1 is no finite number above 0"),
        (["--threads", "0"], "--threads: 0 is no finite number above 0"),
        (["--stem", "round"], "--stem: invalid choice: 'round'"),
        (["--compile", "much"], "--compile: invalid choice: 'much'"),
    ],
)
def test_values_that_make_no_sense_are_named(words, told, capsys):
    with pytest.raises(SystemExit) as ended:
        imported().arguments(words)
    assert ended.value.code == 2
    assert told in capsys.readouterr().err.splitlines()[-1]


def test_a_checkpoint_of_another_stem_is_refused_in_a_sentence(tmp_path):
    path = tmp_path / "model.pth"
    torch.save({"model": {"conv1.weight": torch.zeros(64, 3, 3, 3)}}, path)
    with pytest.raises(training.Refused, match="written with --stem cifar"):
        speedups.check_stem(path, "imagenet")
    speedups.check_stem(path, "cifar")
    path.write_bytes(b"nothing")
    speedups.check_stem(path, "cifar")  # load_checkpoint has the words for this
    speedups.check_stem(tmp_path / "none.pth", "cifar")


@pytest.mark.slow  # starts torch in three processes, and trains
def test_the_script_divides_the_cores_and_says_what_it_did_not_reach(tmp_path):
    status, lines, errors = script(tmp_path, *ONE_STEP, "--num-epochs", "1")
    assert status == 0, errors
    found = re.match(r"(\d+) ranks on cpu by gloo, (\d+) threads each", lines[0])
    size, each = map(int, found.groups())
    assert size == 2 and size * each <= max(size, training.machine.cores())
    assert any(line.startswith("90%, 93% and 94% test accuracy not reached in ") for line in lines)


def test_too_many_threads_are_one_sentence_of_rank_zero(tmp_path):
    status, _, errors = script(tmp_path, *ONE_STEP, "--threads", "9999")
    assert status != 0
    said = [line for line in errors.splitlines() if line.startswith("resnet_ddp.py: ")]
    assert len(said) == 1 and "is more than the" in said[0]
    assert 'resnet_ddp.py", line' not in errors, "a traceback"


@pytest.mark.long
@pytest.mark.slow  # three runs of the script, of four epochs
@pytest.mark.parametrize(
    "words",
    [["--augment"],
     ["--augment", "--on-device", "--channels-last", "--fused", "--static-graph",
      "--schedule", "triangle"]],
    ids=["plain", "fast"],
)  # fmt: skip
def test_a_resumed_training_ends_bit_for_bit_like_one_that_never_stopped(tmp_path, words):
    words = [*SMALL, *words, "--num-epochs", "4"]
    status, lines, errors = script(tmp_path / "straight", *words)
    assert status == 0, errors
    straight = losses(lines)
    stopped_after_an_epoch(tmp_path / "stopped", *words)
    status, lines, errors = script(tmp_path / "stopped", *words, "--resume")
    assert status == 0, errors
    resumed = losses(lines)
    assert 0 < len(resumed) < 4 and resumed == straight[-len(resumed) :]
    assert "where this run resumed" in "".join(lines)
    one, other = (
        torch.load(tmp_path / name / "resnet_distributed.pth") for name in ("straight", "stopped")
    )
    assert one["epoch"] == other["epoch"] == 3
    assert all(torch.equal(one["model"][name], other["model"][name]) for name in one["model"])
    for number, state in one["optimizer"]["state"].items():
        there = other["optimizer"]["state"][number]
        assert torch.equal(state["momentum_buffer"], there["momentum_buffer"])
    assert one["optimizer"]["param_groups"] == other["optimizer"]["param_groups"]
