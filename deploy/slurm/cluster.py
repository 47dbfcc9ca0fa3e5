#!/usr/bin/env python3
"""A real Slurm of two nodes on one machine, for trying out and for tests.

    deploy/slurm/cluster.py up          # as root; `make slurm-up` says the same
    deploy/slurm/cluster.py run sinfo   # a command on the cluster, as the ordinary user `student`
    deploy/slurm/cluster.py down

munged, slurmctld and one slurmd a node run in namespaces of their own (mounts, processes, network,
host names), where the cluster looks as it does anywhere: /etc/slurm/slurm.conf, hosts `head`, `n1`
and `n2` with an address each, a user `student`. Outside nothing is changed but one folder, so
that two clusters do not meet, and when the first process of the namespaces ends, by whatever
signal, the kernel ends all others.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import hashlib
import os
import select
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
NODES = {"n1": "10.77.0.11", "n2": "10.77.0.12"}
HEAD = "10.77.0.1"
STUDENT = "student"
UID = 20077  # an ordinary user, known inside alone
GPUS = 4  # of a node, as far as Slurm can tell
TMP = Path("/tmp")
PATIENCE = 60.0  # seconds until both nodes have to be idle
PACKAGES = "apt-get install -y slurm-wlm munge iproute2"
NEEDED = ("munged", "slurmctld", "slurmd", "sbatch", "ip", "unshare", "nsenter", "setpriv")
_PR_SET_PDEATHSIG = 1


class Impossible(RuntimeError):
    """No cluster can be had here; the message says what to do."""


def obstacle() -> str:
    """Why no cluster can be started here, in one sentence; empty where one can."""
    path = os.environ.get("PATH", "") + ":/usr/sbin:/sbin"
    if absent := [name for name in NEEDED if not shutil.which(name, path=path)]:
        return f"there is no {' and no '.join(absent)} here: {PACKAGES}"
    if os.geteuid() != 0:
        return "two Slurm nodes on one machine need root, to make namespaces: sudo make slurm-up"
    tried = subprocess.run(
        ["unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork", "ip", "link", "add",
         "try", "type", "bridge"], capture_output=True, text=True,
    )  # fmt: skip
    if tried.returncode:
        return f"this machine's kernel gives no namespaces of our own: {tried.stderr.strip()}"
    return ""


class Cluster:
    """Two Slurm nodes. A context manager, whose cluster also ends with this process.

    Args:
        folder: for its logs and the student's home; made, and removed when the cluster goes down.
        readable: folders that the student must be able to read, besides Python's and the course's.
    """

    def __init__(self, folder: Path, readable: Iterable[Path] = ()) -> None:
        self.folder = folder
        self.home = folder / "home"
        self._readable = [*readable, ROOT, Path(sys.prefix), Path(sys.base_prefix)]

    def __enter__(self) -> Cluster:
        self.up(tied=True)
        return self

    def __exit__(self, *exception) -> None:
        self.down()

    @property
    def pid(self) -> int | None:
        """The first process of the cluster's namespaces; `None` while it is down."""
        try:
            pid = int((self.folder / "pid").read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if str(self.folder).encode() in command else None

    def up(self, tied: bool = False) -> None:
        """Start it, unless it is up.

        Args:
            tied: it goes down with this process.

        Raises:
            Impossible: it cannot be started here, or did not start.
        """
        if self.pid:
            return
        if reason := obstacle():
            raise Impossible(reason)
        self._make_folder()
        with (self.folder / "log" / "start.log").open("wb") as log:
            keeper = subprocess.Popen(
                ["unshare", "--mount", "--pid", "--net", "--uts", "--ipc", "--fork",
                 "--kill-child=KILL", "--mount-proc", sys.executable, str(HERE / "cluster.py"),
                 "keep", str(self.folder), *map(str, self._readable)],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                preexec_fn=_die_with_parent if tied else None,
            )  # fmt: skip
        try:
            self._wait_until_idle(keeper)
        except BaseException:
            keeper.kill()
            keeper.wait()
            raise

    def _make_folder(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o755)
        (self.folder / "log").mkdir()
        self.home.mkdir()
        os.chown(self.home, UID, UID)

    def _wait_until_idle(self, keeper: subprocess.Popen) -> None:
        deadline = time.monotonic() + PATIENCE
        while keeper.poll() is None and time.monotonic() < deadline:
            inner = child(keeper.pid)
            if inner and (self.folder / "log" / "ready").exists():
                (self.folder / "pid").write_text(str(inner))
                if self.run("sinfo", "-h", "-N", "-p", "course", "-o", "%T").stdout.split() == (
                    ["idle"] * len(NODES)
                ):
                    return
            time.sleep(0.05)
        said = (self.folder / "log" / "start.log").read_text(errors="replace").strip()
        said = said.splitlines()[-1] if said else "the nodes were not idle in time"
        raise Impossible(f"Slurm did not start: {said}; its logs are in {self.folder}/log")

    def command(
        self, *words: str, cwd: Path | None = None, user: str = STUDENT, **env: str
    ) -> list[str]:
        """The command line, for root, that runs `words` on the cluster's head as the student.

        Args:
            cwd: the working folder, the student's home by default.
            env: more environment variables.

        Raises:
            Impossible: the cluster is down.
        """
        pid = self.pid
        if pid is None:
            raise Impossible("the cluster is down: make slurm-up")
        who = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
        home = self.home if user == STUDENT else "/root"
        path = f"{Path(sys.prefix) / 'bin'}:/usr/sbin:/usr/bin:/sbin:/bin"
        variables = {
            "PATH": path, "HOME": str(home), "USER": user, "LOGNAME": user, "LANG": "C.UTF-8",
            "SHELL": "/bin/bash", "PYTHONDONTWRITEBYTECODE": "1", **env,
        }  # fmt: skip
        for name in ("PYTHONPATH", "TERM"):
            if name in os.environ:
                variables.setdefault(name, os.environ[name])
        return [
            "nsenter", f"--target={pid}", "--mount", "--pid", "--net", "--uts", "--ipc",
            f"--wd={cwd or home}", *(who if user == STUDENT else []),
            "env", "-i", *(f"{name}={value}" for name, value in variables.items()), *words,
        ]  # fmt: skip

    def run(
        self, *words: str, cwd: Path | None = None, user: str = STUDENT,
        timeout: float = 300.0, **env: str,
    ) -> subprocess.CompletedProcess:  # fmt: skip
        """Run a command on the cluster's head; see `command`. `timeout` in seconds."""
        return subprocess.run(
            self.command(*words, cwd=cwd, user=user, **env), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=timeout,
        )  # fmt: skip

    def down(self) -> None:
        """End every process of the cluster and remove its folder."""
        if pid := self.pid:
            watched = os.pidfd_open(pid)
            signal.pidfd_send_signal(watched, signal.SIGKILL)
            # the first process of a namespace has ended when all others in it have
            select.select([watched], [], [], PATIENCE)
            with contextlib.suppress(ChildProcessError):
                os.waitid(os.P_PIDFD, watched, os.WEXITED)
            os.close(watched)
        shutil.rmtree(self.folder, ignore_errors=True)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def child(pid: int) -> int | None:
    """The process that `unshare` forked, once it is there."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def temporary() -> Path:
    """A new folder for a cluster that others may pass through."""
    return Path(tempfile.mkdtemp(prefix="distlab-slurm-"))


# What follows runs inside, as the first process of the namespaces.


def keep(folder: Path, readable: Sequence[Path]) -> None:
    """Set the cluster up, and stay until one of its daemons ends."""
    _sh("mount --make-rprivate /")
    _show([folder, *readable])
    _lay_out(folder)
    _connect()
    daemons = _start_daemons()
    (folder / "log" / "ready").touch()
    while os.wait()[0] not in daemons:  # a first process has to take leave of everybody's orphans
        pass


def _sh(script: str) -> None:
    subprocess.run(["sh", "-euc", script], check=True)


def _show(readable: Sequence[Path]) -> None:
    """Let everybody pass to these folders, where a closed home, say, lies on the way. For the rest
    /tmp is the cluster's own: what jobs leave there ends with it.
    """
    closed = {}
    for path in dict.fromkeys(path.resolve() for path in readable):
        doors = [door for door in reversed(path.parents) if _closed(door)]
        if doors:
            closed[path] = doors[0]
    held = Path("/mnt")
    _sh(f"mount -t tmpfs -o mode=0755 held {held}")
    for number, path in enumerate(closed):
        (held / str(number)).mkdir()
        _sh(f"mount --rbind {_q(path)} {held / str(number)}")
    for door in {*closed.values(), TMP}:
        mode = "1777" if door == TMP else "0755"
        _sh(f"mount -t tmpfs -o mode={mode} closed {_q(door)}")
    for number, path in sorted(enumerate(closed), key=lambda one: len(one[1].parts)):
        path.mkdir(parents=True, exist_ok=True)
        _sh(f"mount --rbind {held / str(number)} {_q(path)}")
    _sh(f"umount -R -l {held}")


def _closed(door: Path) -> bool:
    """Does what lies behind have to be shown?"""
    return door == TMP or not door.stat().st_mode & 0o001


def _lay_out(folder: Path) -> None:
    """The files that a node has, and that end with the namespaces."""
    # /etc as a whole: a mount on one of its files goes when that is written anew outside
    _sh("""
        mount -t tmpfs -o mode=0755 slurm /var/spool
        mount -t tmpfs -o mode=0755 slurm /run
        cp -a /etc /run/etc
        mount --bind /run/etc /etc
    """)
    for made in ("/run/slurm", "/run/munge", "/etc/slurm", "/var/spool/slurm/head",
                 *(f"{place}/{node}" for place in ("/var/spool/slurm", "/run/slurm")
                   for node in NODES)):  # fmt: skip
        Path(made).mkdir(parents=True, exist_ok=True)
    Path("/run/slurm/log").symlink_to(folder / "log")
    shutil.copy(HERE / "slurm.conf", "/etc/slurm/slurm.conf")
    for number in range(GPUS):  # Slurm wants devices; whoever opens one reads nothing
        os.mknod(f"/run/slurm/nvidia{number}", 0o666 | 0o020000, os.makedev(1, 3))
    Path("/etc/slurm/gres.conf").write_text(f"Name=gpu File=/run/slurm/nvidia[0-{GPUS - 1}]\n")
    hosts = {"localhost": "127.0.0.1", "head": HEAD, **NODES}
    # both ways to write an address, so that torch finds the names of those who call it
    _write("hosts", "".join(f"{address} {name}\n::ffff:{address} {name}\n"
                            for name, address in hosts.items()))  # fmt: skip
    _write("nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n")
    passwd, group = Path("/etc/passwd").read_text(), Path("/etc/group").read_text()
    home = folder / "home"
    _write("passwd", f"{passwd}{STUDENT}:x:{UID}:{UID}::{home}:/bin/bash\n")
    _write("group", f"{group}{STUDENT}:x:{UID}:\n")


def _write(name: str, content: str) -> None:
    """A file of /etc, also where that was a link."""
    path = Path("/etc") / name
    path.unlink(missing_ok=True)
    path.write_text(content)


def _connect() -> None:
    """A network of the head and the nodes, each with its own interfaces and host name."""
    _sh(f"""
        hostname head
        ip link set lo up
        ip link add cluster type bridge
        ip addr add {HEAD}/24 dev cluster
        ip link set cluster up
    """)
    for node, address in NODES.items():
        _sh(f"""
            ip netns add {node}
            ip link add {node} type veth peer name eth0 netns {node}
            ip link set {node} master cluster up
            ip -n {node} link set lo up
            ip -n {node} addr add {address}/24 dev eth0
            ip -n {node} link set eth0 up
        """)


def _start_daemons() -> list[int]:
    """Returns the process ids of those without which there is no cluster."""
    key = Path("/run/munge.key")
    key.touch(0o600)
    key.write_bytes(os.urandom(1024))
    _sh(f"munged --key-file={key} --log-file=/run/slurm/log/munged.log "
        "--pid-file=/run/munge/munged.pid --seed-file=/run/munge/munged.seed --force")  # fmt: skip
    daemons = [subprocess.Popen(["slurmctld", "-D"]).pid]
    for node in NODES:
        start = f"hostname {node}; exec slurmd -D -N {node}"
        # not `ip netns exec`: its fresh /sys has no cgroups, and slurmd looks for them
        within = ["nsenter", f"--net=/run/netns/{node}", "unshare", "--uts", "sh", "-c", start]
        daemons.append(subprocess.Popen(within).pid)
    return daemons


def _q(path: Path) -> str:
    return shlex.quote(str(path))


# The command line


def usual() -> Path:
    """The folder of the cluster that belongs to this copy of the course."""
    name = hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]
    return Path(tempfile.gettempdir()) / f"distlab-slurm-{name}"


def main() -> int:
    if sys.argv[1:2] == ["keep"]:
        keep(Path(sys.argv[2]), [Path(word) for word in sys.argv[3:]])
        return 1
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("up", "down", "run", "shell"))
    parser.add_argument("command", nargs=argparse.REMAINDER, help="for `run`: what to run")
    chosen = parser.parse_args()
    cluster = Cluster(usual())
    try:
        if chosen.action == "down":
            cluster.down()
        elif chosen.action == "up":
            cluster.up()
            print(f"Slurm is up: nodes {', '.join(NODES)}. deploy/slurm/cluster.py shell opens a "
                  f"shell there as {STUDENT}, whose home is {cluster.home}")  # fmt: skip
        else:
            words = chosen.command if chosen.action == "run" else ["bash"]
            if not words:
                parser.error("say which command to run")
            here = cluster.home if chosen.action == "shell" else Path.cwd()
            return subprocess.call(cluster.command(*words, cwd=here))
    except Impossible as reason:
        print(f"cluster.py: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
