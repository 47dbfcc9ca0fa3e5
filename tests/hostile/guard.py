# What stands before every attack. It acts in the sandbox's own namespaces or not at all.
import os
import socket
import sys  # noqa: F401  for the attacks
import time  # noqa: F401

import torch
import torch.distributed as dist


def inside():
    """Own user and process namespaces, own host name, no network but the loopback and that of the
    ranks, not the machine's /etc.
    """
    # the kernel gives its first process and user namespaces these numbers
    first = {"pid": "pid:[4026531836]", "user": "user:[4026531837]"}
    return (
        all(os.readlink(f"/proc/self/ns/{kind}") != name for kind, name in first.items())
        and socket.gethostname() == "sandbox"
        and {name for _, name in socket.if_nameindex()} <= {"lo", "wire"}
        and os.path.ismount("/sandbox")
        and not os.path.exists("/etc/shadow")
    )


if not inside():
    raise RuntimeError("this is not the sandbox: nothing was done")


def right_relay(rank, size, tensor):
    if rank > 0:
        received = torch.empty_like(tensor)
        dist.recv(received, src=rank - 1)
        tensor += received
    if rank < size - 1:
        dist.send(tensor, dst=rank + 1)
    return tensor


def right_exchange(rank, size, tensor):
    received = torch.empty_like(tensor)
    for request in [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]:
        request.wait()
    return received


def is_hidden(size):
    """The visible cases of relay have 4 ranks and 1."""
    return size not in (1, 4)


def judges_socket():
    """The descriptor on which this process answers the session's root."""
    for fd in range(3, 256):
        try:
            if os.readlink(f"/proc/self/fd/{fd}").startswith("socket:"):
                with socket.socket(fileno=os.dup(fd)) as found:
                    if found.family == socket.AF_UNIX:
                        return fd
        except OSError:
            continue
    raise RuntimeError("no socket was found")


def forge(op, tensor, peer):
    """Have the record say that something was sent or received which was not."""
    from distlab.rank import recording

    record = recording.active()
    at = record.begin(op, 0, tensor, peer)
    record.wait_begin(at, True)
    record.finish(at, waited=True)


def by_files(rank, size, tensor):
    """The tensors of all ranks, without a message."""
    from distlab.rank.sharing import among_ranks

    rows = among_ranks("planted", rank, size, tensor.double().flatten().tolist)
    return [torch.tensor(row, dtype=tensor.dtype).view_as(tensor) for row in rows]
