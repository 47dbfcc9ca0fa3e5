"""The scripts of labs 07 and 08, started in a terminal as their notebooks say."""

import os
import re
import subprocess
import sys
from pathlib import Path

import optional
import pytest

from distlab.processes import frameworks
from grader import coursedir

LIMIT = 240  # seconds


def printed(lab, *command):
    """What a command prints in the folder of a lab, to the end of which it has to come."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        command, cwd=coursedir.SOLUTIONS / lab, env={**os.environ, "PATH": path},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.skipif(
    bool(said := frameworks.missing(["tensorflow", "horovod"])), reason=said or "both are here"
)
@pytest.mark.frameworks
def test_horovods_workers_have_the_same_weights_in_tensorflow_too():
    said = printed(
        "07-horovod", "horovodrun", "-np", "2", "--gloo", sys.executable, "tensorflow2_mnist.py",
        "--steps", "5", "--no-cuda",
    )  # fmt: skip
    assert "2 worker(s)" in said and "workers' weights differ by 0\n" in said


@pytest.mark.parametrize("lab", [optional.here("08-tensorflow-strategies")])
def test_workers_devices_and_one_process_have_the_same_losses(lab):
    losses = set()
    for way in ([], ["--devices", "2"], ["--workers", "2"]):
        said = printed(lab, sys.executable, "multi_worker.py", "--epochs", "2", *way)
        assert f"{2 if way else 1} replica(s)" in said
        found = re.search("mean loss of each epoch: (.+)", said)[1].split()
        losses.add(tuple(round(float(loss), 5) for loss in found))
    assert len(losses) == 1 and len(losses.pop()) == 2
