"""What becomes of jobs: failed, ended, cancelled, preempted, lost; and training that goes on."""

import itertools
import os
import re
import signal
import subprocess
import time

import cluster as deployed
import pytest
from desks import Desk

from grader import coursedir

PATIENCE = 240.0  # seconds in which a job has to come to where a test waits for it
#: a job that has begun and then does nothing
IDLE = "#!/bin/bash\n#SBATCH --nodes=2 --exclusive\necho it has begun\nsrun tail -f /dev/null\n"
LAB = coursedir.SOLUTIONS / "03-cifar10-ddp"
TRAIN = ["--synthetic", "--limit", "64", "--batch-size", "16", "--num-epochs", "3"]


_numbers = itertools.count()


class Following:
    """`distlab submit` under way, and what it has printed so far."""

    def __init__(self, desk, *words) -> None:
        self._file = desk.folder / f"followed-{next(_numbers)}"
        with self._file.open("wb") as file:
            self.process = subprocess.Popen(
                desk.command("python", "-m", "distlab", "submit", *words),
                stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                # a shell lets what it starts in the background ignore Ctrl-C, and so would this
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            )  # fmt: skip

    @property
    def said(self) -> str:
        return self._file.read_text()

    def until(self, words: str) -> str:
        """Wait until it has printed this; returns the job's number."""
        deadline = time.monotonic() + PATIENCE
        while words not in self.said:
            over = self.process.poll() is not None or time.monotonic() > deadline
            assert not over or words in self.said, f"it never said {words!r}: {self.said}"
            time.sleep(0.05)
        return re.search(r"job (\d+)", self.said)[1]

    def ended(self) -> int:
        """Wait for its end; returns its exit status."""
        return self.process.wait(PATIENCE)


@pytest.fixture
def idle(desk):
    """A job that has begun and goes on for ever: (its number, who follows it)."""

    def start(*options):
        desk.write("idle.sbatch", IDLE)
        following = Following(desk, *options, "idle.sbatch")
        return following.until("it has begun"), following

    return start


def urgent(desk):
    """Take both nodes for a moment, as somebody whose jobs go before all others."""
    done = desk.run("srun", "--partition=urgent", "--nodes=2", "--exclusive", "true")
    assert done.returncode == 0, done.stderr


def test_a_failed_job_is_told_with_the_end_of_its_log(desk):
    desk.write("fail.sbatch", "#!/bin/bash\necho so far\necho no data >&2\nexit 3\n")
    done = desk.distlab("submit", "fail.sbatch")
    assert done.returncode == 1
    assert re.search(
        r"distlab: job \d+ failed with exit status 3; its log is slurm-\d+.out, which ends: "
        r"so far / no data\n$", done.stderr,
    )  # fmt: skip


def test_a_killed_rank_ends_the_others_and_the_job_says_so(desk):
    desk.write("die.py", "import os, sys\nos.environ['RANK'] == '1' and os.kill(os.getpid(), 9)\n"
               "while True: pass\n")  # fmt: skip
    done = desk.distlab("submit", "die.py", "--nodes=2", "--ranks=2")
    assert done.returncode == 1
    assert "; first of all task 1 on n2: Killed; its log is die-" in done.stderr


def test_what_sbatch_refuses_is_one_line(desk):
    desk.write("x.sbatch", IDLE)
    done = desk.distlab("submit", "--partition=nowhere", "x.sbatch")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "sbatch refused: invalid partition specified: nowhere" in done.stderr


def test_ctrl_c_cancels_the_job(desk, idle):
    job, following = idle()
    # the process that nsenter has started is the student's
    os.kill(deployed.child(following.process.pid), signal.SIGINT)
    assert following.ended() == 1
    assert f"job {job} was cancelled" in following.said
    assert "CANCELLED" in desk.run("scontrol", "show", "job", job).stdout


def test_a_cancelled_job_says_so(desk, idle):
    job, following = idle()
    desk.run("scancel", job)
    assert following.ended() == 1 and f"distlab: job {job} was cancelled; its log" in following.said


def test_a_job_that_waits_says_for_what(desk, idle):
    idle("--partition=urgent")
    desk.write("x.sbatch", IDLE)
    following = Following(desk, "--partition=spare", "x.sbatch")
    desk.run("scancel", following.until("waits for nodes that are busy now"))
    assert following.ended() == 1


def test_a_job_that_can_never_start_says_why(desk):
    desk.write("x.sbatch", IDLE)
    following = Following(desk, "--time=2:00:00", "x.sbatch")
    job = following.until("can never start, because partition course has no job run for 02:00:00")
    desk.run("scancel", job)
    assert following.ended() == 1


def test_a_preempted_job_says_so(desk, idle):
    job, following = idle("--partition=spare")
    urgent(desk)
    assert following.ended() == 1
    assert f"job {job} had to give its nodes to a job that goes before it" in following.said


def test_a_job_whose_node_fails_says_so(desk):
    desk.write("idle.sbatch", IDLE.replace("--exclusive", "--exclusive --no-requeue"))
    following = Following(desk, "idle.sbatch")
    following.until("it has begun")
    desk.root("scontrol", "update", "nodename=n2", "state=down", "reason=test")
    try:
        assert following.ended() == 1
        assert "lost a node of n[1-2]: submit it again" in following.said
    finally:
        desk.root("scontrol", "update", "nodename=n2", "state=resume")


@pytest.mark.slow  # Slurm counts limits in minutes, and looks every half of one
def test_a_job_is_ended_at_its_limit_and_says_so(desk, idle):
    job, following = idle("--time=1")
    assert following.ended() == 1
    assert f"job {job} was ended at its time limit of 00:01:00: ask for more" in following.said


def checkpoint(desk):
    import torch

    path = desk.folder / "saved_models" / "resnet_distributed.pth"
    return torch.load(path, map_location="cpu")


def flat(tree, path=""):
    """Every value of a checkpoint with where it stands."""
    if isinstance(tree, dict):
        return [one for key, value in tree.items() for one in flat(value, f"{path}/{key}")]
    if isinstance(tree, (list, tuple)):
        return [one for n, value in enumerate(tree) for one in flat(value, f"{path}/{n}")]
    return [(path, tree)]


def same_bits(one, other):
    import torch

    pairs = list(zip(flat(one), flat(other), strict=True))
    assert len(pairs) > 100
    for (where, a), (there, b) in pairs:
        assert where == there
        assert torch.equal(a, b) if isinstance(a, torch.Tensor) else a == b, where


@pytest.fixture(scope="module")
def straight(cluster):
    """The checkpoint of a run that nothing disturbed."""
    desk = Desk(cluster, cluster.home / "straight")
    desk.take(*LAB.iterdir())
    done = desk.distlab("submit", "resnet_ddp.sbatch", *TRAIN)
    assert done.returncode == 0, done.stdout + done.stderr
    return checkpoint(desk)


def test_preempted_training_goes_on_from_its_checkpoint_bit_for_bit(desk, straight):
    desk.take(*LAB.iterdir())
    following = Following(desk, "resnet_ddp.sbatch", *TRAIN)
    job = following.until("epoch 1/3")
    urgent(desk)
    assert following.ended() == 0, following.said
    assert f"job {job} is back in the queue (restart 1)" in following.said
    assert len(re.findall("epoch 1/3  loss", following.said)) == 1, "it began anew"
    same_bits(checkpoint(desk), straight)


def test_killed_training_goes_on_from_its_checkpoint_bit_for_bit(desk, straight):
    desk.take(*LAB.iterdir())
    following = Following(desk, "resnet_ddp.sbatch", *TRAIN)
    job = following.until("epoch 1/3")
    desk.run("scancel", "--signal=KILL", "--full", job)
    assert following.ended() == 1
    done = desk.distlab("submit", "resnet_ddp.sbatch", *TRAIN, "--resume")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "epoch 1/3" not in done.stdout and "epoch 3/3" in done.stdout
    same_bits(checkpoint(desk), straight)


def test_the_student_is_nobody_special(cluster):
    assert cluster.run("id", "-u").stdout.strip() == str(deployed.UID)
    assert cluster.run("scontrol", "update", "nodename=n1", "state=down", "reason=x").returncode
