"""The environment variables of processes that carry ranks."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

#: a fork copies the page table, which is half as long with huge pages; and memory that is given
#: back to the kernel comes back page by page, which costs more than what is done with it
_MALLOC = ":".join(
    f"glibc.malloc.{name}={value}"
    for name, value in (("hugetlb", 1), ("mmap_threshold", 32 << 20), ("trim_threshold", 64 << 20))
)

_AT_BEGIN = (
    "PYTHON", "LD_", "LANG", "LC_", "GLIBC_", "MALLOC_", "OMP_", "GOMP_", "MKL_", "OPENBLAS_",
    "TORCH_", "PYTORCH_", "C10_", "NPY_",
)  # fmt: skip

#: what speaks of a cluster's network, and ranks on one machine must not believe
_OF_A_CLUSTER = ("GLOO_DEVICE_TRANSPORT",)


def environment(given: dict[str, str] | None = None) -> dict[str, str]:
    """These variables beside `given`, or beside this process's own. What is set stays, unless it
    is for jobs on a cluster: ranks here meet on loopback, whichever interface a profile names. And
    stack traces of C++, of which torch makes one for each error that it catches itself: they take
    seconds each, in which a right answer comes to its deadline.
    """
    env = dict(os.environ if given is None else given)
    for name in _OF_A_CLUSTER:
        env.pop(name, None)
    env["GLOO_SOCKET_IFNAME"] = loopback()
    env["TORCH_SHOW_CPP_STACKTRACES"] = "0"
    env.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")
    env["OMP_NUM_THREADS"] = env.get("OMP_NUM_THREADS", "1")
    env.setdefault("GLIBC_TUNABLES", _MALLOC)
    env.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # TensorFlow tells everybody about the CPU
    return env


def at_begin(env: Mapping[str, str]) -> dict[str, str]:
    """What of an environment a Python and its libraries look at when they begin, or may: a process
    that was forked from one with other values is another one than these ask for.
    """
    return {name: value for name, value in env.items() if name.startswith(_AT_BEGIN)}


def interface(env: Mapping[str, str]) -> str:
    """The network interfaces that gloo is to use for a command which may reach other machines: what
    `env` names, where these are here, else loopback.
    """
    asked = env.get("GLOO_SOCKET_IFNAME", "")
    here = {name for _, name in socket.if_nameindex()}
    return asked if here.issuperset(asked.split(",")) else loopback()


def loopback() -> str:
    """The name of the loopback interface, for gloo on a machine without a network."""
    names = [name for _, name in socket.if_nameindex()]
    return "lo" if "lo" in names else "lo0"
