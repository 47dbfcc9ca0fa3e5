"""Every batch file of the labs runs to its end, as an ordinary user on two nodes."""

import re
import shutil

import optional
import pytest

from distlab.processes import frameworks
from grader import coursedir

#: arguments that make a run short
SMALL = {
    "send_receive": ["--non-blocking"],
    "data_parallel": ["--seconds", "0.1"],
    "resnet_ddp": ["--synthetic", "--limit", "64", "--batch-size", "16", "--num-epochs", "1"],
    "ring": ["--bytes", "4096", "--repeats", "2"],
    "scaling": ["--batch-size", "16", "--width", "4", "--steps", "2", "--repeats", "2"],
    "pipeline": ["--steps", "3", "--work", "0.1"],
    "pytorch_mnist": ["--epochs", "1", "--batch-size", "512", "--no-cuda"],
    "pytorch_mnist_nodes": ["--epochs", "1", "--batch-size", "512", "--no-cuda"],
    "tensorflow2_mnist": ["--steps", "5", "--no-cuda"],
    "multi_worker": ["--epochs", "1"],
    "one_node": ["--epochs", "1"],
    "survive": ["--samples", "200", "--pause", "0"],
    "sharded": ["--layers", "3", "--width", "32", "--steps", "3"],
    "resnet_fsdp_plain": ["--synthetic", "--epochs", "1", "--batch-size", "64"],
    "attention": ["--lengths", "64", "128", "--repeats", "1"],
    "experts": ["--tokens", "32", "--repeats", "1"],
}
#: what the log of a right run holds
TOLD = {
    "send_receive": "relay: rank 1 of 2 has [3.0]",
    "data_parallel": "2 processes",
    "mp": "the parameters add up to",
    "launched": "the parameters add up to",
    "resnet_ddp": "epoch 1/1  loss",
    "ring": "ranks, gloo, on cpu",
    "scaling": "8 ranks",
    "pipeline": "micro-batch(es): bubble",
    "pytorch_mnist": "4 worker(s) on cpu",
    "pytorch_mnist_nodes": "4 worker(s) on cpu",
    "tensorflow2_mnist": "workers' weights differ by 0\n",
    "multi_worker": "2 worker(s), 2 replica(s)",
    "one_node": "2 worker(s), 2 replica(s)",
    "survive": "every sample was trained on once",
    "sharded": "4 rank(s) on cpu: loss",
    "resnet_fsdp_plain": "epoch 1/1  loss",
    "attention": "ranks, gloo, on cpu",
    "experts": "expert 0 favoured by 2",
}
#: and what says that its ranks were on both nodes, where torchrun has started them there
BOTH = {
    "send_receive": "rank 1 of 2",
    "launched": "rank 3 of 4",
    "resnet_ddp": "4 ranks on cpu",
    "ring": "4 ranks, gloo",
    "scaling": "8 ranks on cpu",
    "pipeline": "4 rank(s)",
    "survive": "4 workers are done",
    "sharded": "4 rank(s) on cpu: loss",
    "attention": "4 ranks, gloo",
    "experts": "4 ranks, gloo",
}
#: programs that import torchvision and nothing of distlab
PLAIN = {"resnet_fsdp_plain"}
#: what a batch file needs besides its lab
MORE = {"tensorflow2_mnist": ["tensorflow"]}
FILES = sorted(coursedir.SOLUTIONS.glob("*/*.sbatch"))
QUICK = "send_receive"  # the one that a short test run takes
#: other ways to start that a batch file shows in a comment, by how the command begins, and what the
#: log of a right run then holds
OTHERS = [
    ("pytorch_mnist", "srun --mpi=pmix", "4 worker(s) on cpu"),
    ("pytorch_mnist_nodes", "srun --mpi=pmix", "4 worker(s) on cpu"),
    ("pytorch_mnist_nodes", "mpirun", "4 worker(s) on cpu"),
    ("tensorflow2_mnist", "srun --mpi=pmix", "workers' weights differ by 0\n"),
    ("one_node", "srun --ntasks=1", "1 worker(s), 1 replica(s)"),
]


def cases(files):
    for path in files:
        case = optional.here(path.parent.name, path, id=path.stem)
        slow = [] if path.stem == QUICK else [pytest.mark.slow]
        lacks = frameworks.missing(MORE.get(path.stem, []), path.name)
        marks = [*case.marks, *slow, *([pytest.mark.skip(lacks)] if lacks else [])]
        yield pytest.param(*case.values, marks=marks, id=case.id)


def others():
    for stem, command, told in OTHERS:
        (case,) = cases(path for path in FILES if path.stem == stem)
        yield pytest.param(*case.values, command, told, marks=case.marks, id=f"{stem}-{command}")


def by(text, command):
    """A batch file with another way to start, which it shows in a comment, in place of its own.

    Args:
        command: how that begins, as a regular expression.
    """
    text = re.sub(r"^(srun|horovodrun) .*\n", "", text, flags=re.M)
    other = rf"^# ((?={command})(?:.*\\\n# )*.*)"
    text, found = re.subn(other, lambda m: m[1].replace("\n# ", "\n"), text, flags=re.M)
    assert found == 1, command
    return text


def torchrun(text):
    """A batch file with torchrun in place of its own way to start."""
    text = text.replace("for mode in strong weak", "for mode in weak")  # one run is left in place
    text = text.replace("for n in 1 2 4 8", "for n in 1")
    return by(text, "srun .*torchrun ")


def shows_torchrun(path):
    """Does it show torchrun as another way to start, in a comment?"""
    return re.search(r"^# srun (.*\\\n# )*.*--rdzv-backend=c10d", path.read_text(), re.M)


def submitted(desk, path, *options, told=None, **env):
    stem = path.rsplit(".", 1)[0]
    # scaling.sbatch starts 30 ranks one size after the other: long where others use the machine too
    done = desk.distlab("submit", *options, path, *SMALL.get(stem, []), timeout=900, **env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "is done after" in done.stderr
    assert (told or TOLD[stem]) in done.stdout
    return done


@pytest.mark.parametrize(("lab", "path"), [*cases(FILES)])
def test_the_batch_file_runs_to_its_end(desk, lab, path):
    desk.take(*path.parent.iterdir())
    env = {}
    if path.stem in PLAIN:  # torchvision's wheel does not load beside a torch for CPUs by itself
        desk.write("sitecustomize.py", "import distlab.training.vision\n")
        env["PYTHONPATH"] = str(desk.folder)
    submitted(desk, path.name, **env)


@pytest.mark.parametrize(("lab", "path"), [*cases(filter(shows_torchrun, FILES))])
def test_it_does_so_by_torchrun_on_two_nodes(desk, lab, path):
    desk.take(*path.parent.iterdir())
    desk.write(path.name, torchrun(path.read_text()))
    done = submitted(desk, path.name, "--nodes=2")
    assert BOTH[path.stem] in done.stdout


@pytest.fixture(scope="session")
def mpi(cluster):
    """Where Horovod was built with MPI, and Slurm and Open MPI know each other."""
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun here: apt-get install libopenmpi-dev openmpi-bin")
    built = cluster.run("python", "-c", "import horovod.torch as h; exit(not h.mpi_built())")
    if built.returncode:
        pytest.skip("this Horovod was built without MPI: make horovod, once Open MPI is installed")
    if "pmix" not in cluster.run("srun", "--mpi=list").stdout:
        pytest.skip("this Slurm was built without PMIx")


@pytest.mark.parametrize(("lab", "path", "command", "told"), [*others()])
def test_it_does_so_by_the_other_ways_that_it_shows(desk, request, lab, path, command, told):
    if "mpi" in command:
        request.getfixturevalue("mpi")
    desk.take(*path.parent.iterdir())
    desk.write(path.name, by(path.read_text(), command))
    # MPI waits busily, and a node here has fewer cores than it says
    submitted(desk, path.name, told=told, OMPI_MCA_mpi_yield_when_idle="1")


@pytest.mark.slow  # one run more of what stands above
def test_one_node_does_where_the_file_says_two(desk):
    desk.take(*(coursedir.SOLUTIONS / "04-ring-allreduce").iterdir())
    done = submitted(desk, "ring.sbatch", "--nodes=1")
    assert "2 ranks, gloo" in done.stdout


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_with_its_lines_for_gpus_it_is_taken_too(desk, path):
    desk.write(path.name, re.sub("^##SBATCH", "#SBATCH", path.read_text(), flags=re.M))
    done = desk.run("sbatch", "--test-only", path.name)
    assert done.returncode == 0, done.stderr


def test_a_job_sees_the_gpus_that_it_asked_for(desk):
    desk.write("gpus.sbatch", "#!/bin/bash\nsrun sh -c 'echo GPUs: $CUDA_VISIBLE_DEVICES'\n")
    done = desk.distlab("submit", "gpus.sbatch", "--partition=gpu", "--gpus=2")
    assert "GPUs: 0,1\n" in done.stdout


def test_a_script_is_started_on_two_nodes_without_a_batch_file(desk):
    desk.take(*(coursedir.SOLUTIONS / "01-message-passing").iterdir())
    done = desk.distlab("submit", "send_receive.py", "--nodes=2", "--ranks=4", "--time=5")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3: relay: rank 3 of 4 has [10.0]" in done.stdout


def test_a_function_of_a_notebook_runs_as_a_job(desk):
    desk.take(coursedir.SOLUTIONS / "01-message-passing" / "message_passing.ipynb")
    done = desk.distlab(
        "submit", "message_passing.ipynb", "--function", "run_blocking", "--ranks", "2"
    )
    assert "1: run_blocking(1, 2) = tensor([1.])" in done.stdout, done.stderr
