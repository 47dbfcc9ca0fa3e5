"""A notebook's kernel that is forked from a process with torch imported, as its ranks are.

A `kernel.json` names `main` in place of `ipykernel_launcher` (deploy/hub/jupyter/data). Jupyter
starts this process, which imports what is needed, forks the kernel, and is its template from then
on (`distlab.processes.template`).

Where a nursery serves the user (DISTLAB_TEMPLATE, on the Hub), template and kernel are forked from
that and share memory with those of all students; the process that Jupyter started only passes
signals on.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import socket
import sys
from collections.abc import Sequence

from distlab.processes import framing
from distlab.processes.environment import at_begin, environment
from distlab.processes.zygote import NEEDED, PRELOAD

NURSERY = "DISTLAB_TEMPLATE"  # the variable that says where a nursery listens
BEGUN = b"begun"  # what a template of a nursery says first
PATIENCE = 30.0  # seconds to wait for that: longer than importing everything takes
#: the settings that this process, or the one that it was forked from, was started with
BEGAN = at_begin(os.environ)
_PARENT = os.getppid()  # asked before the imports, during which it may end
_LOOK = 1.0  # seconds between two checks that Jupyter's server is still there
_KERNEL = "ipykernel.kernelapp"
_LAUNCHER = "ipykernel_launcher"
_POLLED = "JPY_PARENT_PID"  # the process with whose end a kernel ends


def main() -> None:
    """Be a kernel, with the arguments of `ipykernel_launcher`.

    The notebook's folder must not be on the path yet: a file there may be named like a module that
    is imported here. The kernel puts it back.
    """
    own = dict(os.environ)
    if NURSERY in own and (connection := _asked(own.pop(NURSERY), own)):
        _end(_hand_on(connection))
    if not _forks_work():
        os.execve(sys.executable, [sys.executable, "-m", _LAUNCHER, *sys.argv[1:]], own)
    _end(begin(own, prepare()))


def _forks_work() -> bool:
    from distlab.processes import starting

    with contextlib.suppress(ValueError):  # a setting is wrong: whoever starts ranks is told
        return starting.way().forks
    return False


def prepare() -> tuple[str, ...]:
    """First of all, import what a kernel needs; returns the modules that only ranks need."""
    import gc
    import importlib

    from distlab.processes import forkserver

    # a kernel may use all cores; a template starts no threads
    limited = "OMP_NUM_THREADS" in os.environ
    os.environ.update({**environment(), "OPENBLAS_NUM_THREADS": "1"})
    if not limited:
        del os.environ["OMP_NUM_THREADS"]
    gc.disable()
    at = PRELOAD.index(NEEDED) + 1
    for name in PRELOAD[:at]:
        forkserver.load_ahead(name)
    importlib.import_module(_KERNEL)
    gc.collect()
    return PRELOAD[at:]


def begin(
    env: dict[str, str], rest: Sequence[str] = (), starter: socket.socket | None = None
) -> int:
    """Fork a kernel and be its template until it ends; returns its exit code. In the kernel this
    does not return.

    Args:
        env: the kernel's environment.
        rest: modules that the template imports while the kernel begins.
        starter: a connection to the process that Jupyter started, if that is not this one.
    """
    import gc

    from distlab.processes.template import Template

    gc.freeze()
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    kernel = os.fork()
    if not kernel:
        ours.close()
        if starter:
            starter.close()
        _be_kernel(theirs, env)
        sys.exit()
    theirs.close()
    return Template(kernel, ours, _PARENT, starter).serve(rest)


def _be_kernel(connection: socket.socket, env: dict[str, str]) -> None:
    import gc
    import importlib

    from distlab.processes import children, forkserver, template

    forkserver.die_with_parent()
    forkserver.draw_anew()
    forkserver.seed_anew()
    os.environ.clear()
    os.environ.update(env)
    children.forks.append(template.Forks(connection, env))
    sys.argv[0] = importlib.import_module(_LAUNCHER).__file__ or _LAUNCHER
    _use_all_cores(env)
    gc.enable()
    polled = {"parent_handle": os.getppid()} if _POLLED in env else {}
    importlib.import_module(_KERNEL).launch_new_instance(**polled)


def _use_all_cores(env: dict[str, str]) -> None:
    """Give NumPy's linear algebra its usual threads: it was told to start without any."""
    import ctypes

    with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as file:
        mapped = {line.split(maxsplit=5)[-1].strip() for line in file if "openblas" in line}
    asked = env.get("OPENBLAS_NUM_THREADS") or env.get("OMP_NUM_THREADS") or ""
    digits = "".join(itertools.takewhile(str.isdecimal, asked.strip()))  # "4,2": 4, as in OpenBLAS
    count = int(digits or 0) or len(os.sched_getaffinity(0))
    for path in mapped:
        try:
            library = ctypes.CDLL(path)
        except OSError:  # an upgrade has replaced it since, or it is no library
            continue
        for name in ("scipy_openblas", "openblas"):
            for kind in ("64_", ""):
                with contextlib.suppress(AttributeError):
                    getattr(library, f"{name}_set_num_threads{kind}")(count)


def _asked(address: str, env: dict[str, str]) -> socket.socket | None:
    """The connection to a nursery's template that has begun with this process's arguments, files
    and folder; `None` if no nursery listens, or no template begins.
    """
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(PATIENCE)
    with contextlib.suppress(OSError):
        asked = {"arguments": sys.argv[1:], "environment": env, "folder": os.getcwd()}
        connection.connect(address)
        socket.send_fds(connection, [json.dumps(asked).encode()], [0, 1, 2])
        if connection.recv(len(BEGUN)) == BEGUN:
            return connection
    connection.close()
    return None


def _hand_on(connection: socket.socket) -> int:
    """Pass signals on to a template until it tells the kernel's exit code."""

    def tell(number: int, _: object) -> None:
        with contextlib.suppress(OSError):
            connection.sendall(str(number).encode())

    signal.signal(signal.SIGINT, tell)
    signal.signal(signal.SIGTERM, tell)
    while os.getppid() == _PARENT:
        if framing.readable([connection], _LOOK):
            with contextlib.suppress(OSError):
                return int(connection.recv(framing.LONGEST) or -signal.SIGKILL)
            break
    return -signal.SIGKILL


def _end(status: int) -> None:
    """End as the kernel has: with its exit code, or by the same signal."""
    if status < 0:
        with contextlib.suppress(OSError):  # the handler of SIGKILL cannot be set
            signal.signal(-status, signal.SIG_DFL)
        os.kill(os.getpid(), -status)
    os._exit(status)
