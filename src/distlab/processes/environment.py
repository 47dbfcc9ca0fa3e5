"""The environment variables of processes that carry ranks."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping

#: settings of glibc's allocator. A fork copies the page table, which is half as long with huge
#: pages. And memory that was given back to the kernel has to be mapped again page by page, which
#: costs more than the computing that is done in it
_MALLOC = ":".join(
    f"glibc.malloc.{name}={value}"
    for name, value in (("hugetlb", 1), ("mmap_threshold", 32 << 20), ("trim_threshold", 64 << 20))
)

_AT_BEGIN = (
    "PYTHON", "LD_", "LANG", "LC_", "GLIBC_", "MALLOC_", "OMP_", "GOMP_", "MKL_", "OPENBLAS_",
    "TORCH_", "PYTORCH_", "C10_", "NPY_",
)  # fmt: skip

#: settings for a cluster's network, which do not apply to ranks on one machine
_OF_A_CLUSTER = ("GLOO_DEVICE_TRANSPORT",)


def environment(given: dict[str, str] | None = None) -> dict[str, str]:
    """The environment of a process with ranks: `given`, or this process's own, with some variables
    added. What is set already is kept, with two exceptions. Settings for jobs on a cluster are
    replaced: ranks on one machine meet on loopback, whichever interface a profile names. And C++
    stack traces are switched off: torch makes one for each error, even one that it catches itself,
    and each takes seconds, in which a right answer could miss its deadline.
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
    """The variables that Python and its libraries may read only when they start: a fork of a
    process that was started with other values does not do what these ask for.
    """
    return {name: value for name, value in env.items() if name.startswith(_AT_BEGIN)}


def interface(env: Mapping[str, str]) -> str:
    """The network interfaces that gloo is to use for a command which may reach other machines:
    those that `env` names if this machine has them all, else loopback.
    """
    asked = env.get("GLOO_SOCKET_IFNAME", "")
    here = {name for _, name in socket.if_nameindex()}
    return asked if here.issuperset(asked.split(",")) else loopback()


def loopback() -> str:
    """The name of the loopback interface, for gloo on a machine without a network."""
    names = [name for _, name in socket.if_nameindex()]
    return "lo" if "lo" in names else "lo0"
