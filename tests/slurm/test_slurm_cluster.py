"""The cluster itself: two of them side by side, and nothing left of one that is gone."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time

import cluster as deployed
import pytest

HOLD = """
import pathlib, signal, sys
sys.path.insert(0, {place!r})
import cluster
with cluster.Cluster(pathlib.Path({folder!r})):
    print("up", flush=True)
    signal.pause()
"""


@contextlib.contextmanager
def namespace(pid):
    """Yields what tells the processes in this one's PID namespace. While that is open here, no
    other namespace gets its number.
    """
    with open(f"/proc/{pid}/ns/pid") as held:
        number = os.readlink(f"/proc/self/fd/{held.fileno()}")

        def inside():
            found = []
            for process in filter(str.isdecimal, os.listdir("/proc")):
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{process}/ns/pid") == number:
                        found.append(int(process))
            return found

        yield inside


@pytest.fixture
def second(cluster):
    """Another cluster than the tests', held by a process of its own: (it, its holder)."""
    made = deployed.Cluster(deployed.temporary())
    program = HOLD.format(place=str(deployed.HERE), folder=str(made.folder))
    holder = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "up\n"
    yield made, holder
    holder.kill()
    holder.wait()
    made.down()


def test_two_clusters_do_not_meet(cluster, second):
    other, _ = second
    assert other.run("squeue", "-h").stdout == ""
    number = other.run("sbatch", "--parsable", "--hold", "--wrap=true").stdout.strip()
    assert other.run("squeue", "-h", "-o", "%i").stdout.strip() == number
    assert number not in cluster.run("squeue", "-h", "-o", "%i").stdout.split()


def test_when_its_holder_is_killed_every_process_of_it_ends(second):
    other, holder = second
    with namespace(other.pid) as inside:
        assert len(inside()) >= 5  # the first, munged, slurmctld, two slurmd
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        deadline = time.monotonic() + 30
        while inside() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert inside() == []


def test_down_leaves_neither_processes_nor_files_nor_interfaces(second):
    other, _ = second
    links = os.listdir("/sys/class/net")
    with namespace(other.pid) as inside:
        other.down()
        assert not other.folder.exists() and inside() == [] and other.pid is None
    assert os.listdir("/sys/class/net") == links
    with pytest.raises(deployed.Impossible, match="the cluster is down: make slurm-up"):
        other.command("sinfo")


def test_nodes_have_names_and_addresses_of_their_own(cluster):
    done = cluster.run("srun", "--nodes=2", "sh", "-c", "echo $(hostname) $(hostname -I)")
    assert sorted(done.stdout.splitlines()) == ["n1 10.77.0.11", "n2 10.77.0.12"]


def test_a_dry_run_says_what_slurm_would(desk):
    desk.write("fits.py", "print(42)\n")
    fits = desk.distlab("submit", "fits.py", "--nodes", 2, "--dry-run")
    assert fits.returncode == 0 and "#SBATCH --nodes=2" in fits.stdout
    says = r"Slurm says: Job \d+ to start at \S+ using \d+ \w+ on nodes n\[1-2\]"
    assert re.match(says, fits.stderr), fits.stderr
    large = desk.distlab("submit", "fits.py", "--nodes", 99, "--dry-run")
    assert large.returncode == 1 and "sbatch refused: " in large.stderr
    assert desk.run("squeue", "--noheader", "--name=fits").stdout == ""
