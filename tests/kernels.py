"""Kernels as Jupyter starts and ends them, and what they may be forked from."""

import contextlib
import os
import socket
import subprocess
import sys
from pathlib import Path

import free_ports
from jupyter_client import KernelManager
from jupyter_client.kernelspec import KernelSpec

SPEC = Path(__file__).parents[1] / "deploy/hub/jupyter/data/kernels/python3"
PATIENCE = 60  # seconds
NURSERY = """
import os, socket, sys
del sys.path[0]
others = [os.open(os.devnull, os.O_RDONLY) for _ in range(int(sys.argv[3]))]
from distlab.processes import forkserver, kernel, nursery
for name in kernel.prepare():
    forkserver.load_ahead(name)
print("ready", flush=True)
nursery.serve(socket.socket(fileno=int(sys.argv[1])), int(sys.argv[2]))
"""


CHANNELS = "shell_port", "iopub_port", "stdin_port", "hb_port", "control_port"


class Kernel:
    """A kernel of a notebook in a folder."""

    def __init__(self, folder, **environment):
        ports = free_ports.some(len(CHANNELS))
        self.manager = KernelManager(cache_ports=False, **dict(zip(CHANNELS, ports, strict=True)))
        self.manager._kernel_spec = KernelSpec.from_resource_dir(str(SPEC))
        self.manager.start_kernel(cwd=str(folder), env={**os.environ, **environment})
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=PATIENCE)

    @property
    def started(self):
        """What Jupyter has started."""
        return self.manager.provisioner.process

    def run(self, code):
        """What the code's last line shows."""
        shown = []

        def keep(message):
            content = message["content"]
            if message["msg_type"] == "error":
                shown.append(content["ename"])
            elif message["msg_type"] == "execute_result":
                shown.append(eval(content["data"]["text/plain"]))

        self.client.execute_interactive(code, timeout=PATIENCE, output_hook=keep)
        return shown[-1] if shown else None

    def told(self, code, *answers):
        """What the code prints, raises and shows, where standard input answers so."""
        told, left = [], list(answers)

        def keep(message):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                told.append(content["text"])
            elif kind == "error":
                told.append(f"{content['ename']}: {content['evalue']}\n")
            elif kind in ("display_data", "execute_result"):
                told.append(f"{sorted(content['data'])}\n")

        self.client.execute_interactive(
            code, timeout=PATIENCE, output_hook=keep, allow_stdin=bool(answers),
            stdin_hook=lambda _: self.client.input(left.pop(0)),
        )  # fmt: skip
        return "".join(told)

    def end(self):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


@contextlib.contextmanager
def nursery_at(path, files=0):
    """A nursery of this user that listens at a path, with so many files open besides. It has what
    kernels need: a machine on which that takes longer than they wait is not what is tested.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener:
        listener.bind(str(path))
        listener.listen()
        nursery = subprocess.Popen(
            [sys.executable, "-c", NURSERY, *map(str, (listener.fileno(), os.getpid(), files))],
            pass_fds=[listener.fileno()],
            stdout=subprocess.PIPE,
        )
    with nursery:
        try:
            assert nursery.stdout.readline() == b"ready\n"
            yield nursery
        finally:
            nursery.kill()
