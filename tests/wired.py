"""Programs of ranks whose messages are measured, run in the sandbox that grading uses.

Each is the body of a function `(rank, size, tensor)`; `Wired.run` gives the records and what went
over the network.
"""

from __future__ import annotations

import textwrap

import numpy as np

from distlab.checking.session import Session
from distlab.engines.outcomes import Run
from distlab.notebook import Cell
from distlab.processes import payload
from grader.sandbox import choose, configured

GIVEN = """
import os, socket, time
import torch
import torch.distributed as dist
from distlab.rank import group_maker, recording
from distlab.rank.sharing import among_ranks, meet


def forge(op, tensor, peer=-1):
    "An entry in the record of something that does not happen."
    record = recording.active()
    at = record.begin(op, 0, tensor, peer)
    record.wait_begin(at, True)
    record.finish(at, waited=True)


def plain():
    "The process group inside the one that records."
    return dist.group.WORLD._group


def address(rank):
    "What gloo of a rank listens on."
    import fcntl, struct

    with socket.socket() as any_socket:
        own = fcntl.ioctl(any_socket, 0x8915, struct.pack("256s", b"wire"))[20:24]
    return socket.inet_ntoa(own[:3] + bytes([own[3] + rank - dist.get_rank()]))


def connected(rank, kind=socket.SOCK_STREAM):
    "A connection from rank 0 to rank 1; None on the others."
    if kind == socket.SOCK_STREAM and rank == 1:
        listening = socket.create_server((address(1), 0))
        among_ranks("port", rank, dist.get_world_size(), lambda: listening.getsockname()[1])
        return listening.accept()[0]
    port = among_ranks("port", rank, dist.get_world_size(), lambda: 9)[1]
    if rank == 0:
        made = socket.socket(socket.AF_INET, kind)
        made.connect((address(1), port))
        return made
"""

#: what honest ranks may do
HONEST = {
    "nothing": "",
    "blocking": """
        if rank > 0:
            dist.recv(tensor, rank - 1)
        if rank < size - 1:
            dist.send(tensor, rank + 1)
    """,
    "requests": """
        other = torch.empty_like(tensor)
        sent = dist.isend(tensor, (rank + 1) % size, tag=7)
        dist.irecv(other, (rank - 1) % size, tag=7).wait()
        sent.wait()
    """,
    "batch": """
        other = torch.empty_like(tensor)
        for work in dist.batch_isend_irecv([
            dist.P2POp(dist.isend, tensor, (rank + 1) % size),
            dist.P2POp(dist.irecv, other, (rank - 1) % size),
        ]):
            work.wait()
    """,
    "any source": """
        if rank:
            dist.send(tensor, 0)
        else:
            for _ in range(size - 1):
                dist.recv(tensor)
    """,
    "tags in another order": """
        if rank == 0:
            works = [dist.isend(tensor + tag, 1, tag=tag) for tag in range(5)]
        if rank == 1:
            works = [dist.irecv(torch.empty_like(tensor), 0, tag=tag) for tag in reversed(range(5))]
        if rank < 2:
            [work.wait() for work in works]
    """,
    "no elements": """
        if rank == 0:
            dist.send(tensor[:0], 1), dist.send(tensor, 1)
        if rank == 1:
            dist.recv(tensor[:0], 0), dist.recv(tensor, 0)
        dist.all_reduce(tensor[:0]), dist.broadcast(tensor[:0], 0)
    """,
    "a buffer larger than the message": """
        if rank == 0:
            dist.send(tensor[:2], 1)
        if rank == 1:
            dist.recv(tensor, 0)
    """,
    "megabytes": """
        other, large = torch.empty(1_500_000), torch.full((1_500_000,), float(rank))
        a, b = dist.isend(large, (rank + 1) % size), dist.irecv(other, (rank - 1) % size)
        a.wait(), b.wait()
        dist.all_reduce(large)
    """,
    "many messages": """
        for i in range(300):
            if rank:
                dist.send(tensor, 0), dist.recv(tensor, 0)
            else:
                for other in range(1, size):
                    dist.recv(tensor, other), dist.send(tensor, other)
    """,
    "nobody waits": """
        dist.isend(tensor, (rank + 1) % size)
        dist.irecv(torch.empty_like(tensor), (rank - 1) % size)
    """,
    "nobody receives": "dist.isend(tensor, (rank + 1) % size)",
    "all_reduce": """
        dist.all_reduce(tensor), dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
        dist.all_reduce(tensor, async_op=True).wait()
    """,
    "sparse": "dist.all_reduce(torch.eye(3).to_sparse())",
    "broadcast and reduce": """
        for root in range(size):
            dist.broadcast(tensor, root), dist.reduce(tensor, root)
    """,
    "one element": """
        for root in range(size):
            dist.broadcast(tensor[:1], root), dist.reduce(tensor[:1], root)
        dist.all_reduce(tensor[:1])
    """,
    "gather and scatter": """
        for root in range(size):
            rows = [torch.empty_like(tensor) for _ in range(size)]
            dist.gather(tensor, rows if rank == root else None, root)
            dist.scatter(tensor, rows if rank == root else None, root)
    """,
    "all_gather": """
        dist.all_gather([torch.empty_like(tensor) for _ in range(size)], tensor)
        dist.all_gather_into_tensor(torch.empty(size * len(tensor)), tensor)
    """,
    "reduce_scatter": """
        dist.reduce_scatter(tensor, [tensor.clone() for _ in range(size)])
        dist.reduce_scatter_tensor(tensor, torch.ones(size * len(tensor)))
    """,
    "all_to_all": """
        dist.all_to_all([torch.empty_like(tensor) for _ in range(size)], [tensor] * size)
        dist.all_to_all_single(torch.empty(size), torch.ones(size))
        # uneven: rank r sends r elements to each
        dist.all_to_all_single(torch.empty(sum(range(size))), torch.ones(size * rank),
                               list(range(size)), [rank] * size)
    """,
    "objects": """
        dist.all_gather_object([None] * size, {"rank": rank})
        dist.broadcast_object_list([rank, "x" * 1000], 0)
        dist.gather_object(rank, [None] * size if rank == 0 else None, 0)
        dist.scatter_object_list([None], [[i] for i in range(size)], 0)
        if rank == 0:
            dist.send_object_list([1, 2], 1)
        if rank == 1:
            dist.recv_object_list([None, None], 0)
    """,
    "barriers": "dist.barrier(), dist.monitored_barrier()",
    "groups": """
        everyone, pair = dist.new_group(), dist.new_group([0, size - 1])
        dist.all_reduce(tensor, group=everyone)
        if rank in (0, size - 1):
            dist.all_reduce(tensor, group=pair)
            if rank == 0:
                dist.send(tensor, size - 1, group=pair)
            else:
                dist.recv(tensor, 0, group=pair)
    """,
    "coalesced": """
        with dist._coalescing_manager():
            dist.all_reduce(tensor), dist.all_reduce(torch.ones(99))
    """,
    "functional": """
        import torch.distributed._functional_collectives as funcol

        funcol.all_reduce(tensor, "sum", dist.group.WORLD) + 1
    """,
    "DDP": """
        from torch.nn.parallel import DistributedDataParallel

        torch.manual_seed(rank)
        layers = [torch.nn.Linear(4, 300), torch.nn.BatchNorm1d(300), torch.nn.Linear(300, 2)]
        model = DistributedDataParallel(torch.nn.Sequential(*layers), bucket_cap_mb=0.001)
        for step in range(3):
            model(torch.ones(3, 4)).sum().backward()
        with model.no_sync():
            model(torch.ones(3, 4)).sum().backward()
    """,
    "threads": """
        import threading

        def both():
            if rank == 0:
                dist.send(tensor, 1, tag=9)
            if rank == 1:
                dist.recv(torch.empty_like(tensor), 0, tag=9)

        thread = threading.Thread(target=both)
        thread.start()
        if rank == 1:
            dist.send(tensor, 0, tag=8)
        if rank == 0:
            dist.recv(torch.empty_like(tensor), 1, tag=8)
        thread.join()
    """,
}

#: programs that send megabytes → elements that their inputs have besides
LARGE = {"megabytes": 3_000_000}

#: what is not as recorded, and how that is said
DISHONEST = {
    "a message that was not sent": (
        "has a message to rank 1 that was not sent",
        """
        if rank == 0:
            forge("send", tensor, 1)
        if rank == 1:
            forge("recv", tensor, 0)
    """,
    ),
    "a receive alone": (
        "has a message from rank 0 that was not sent",
        """
        if rank == 1:
            forge("recv", tensor, 0)
    """,
    ),
    "a message smaller than recorded": (
        "has a message to rank 1 that was not sent",
        """
        if rank == 0:
            forge("send", tensor, 1)
            with recording.paused():
                dist.send(tensor[:1], 1)
        if rank == 1:
            forge("recv", tensor, 0)
            with recording.paused():
                dist.recv(tensor[:1], 0)
    """,
    ),
    "fewer messages than recorded": (
        "has a message to rank 1 that was not sent",
        """
        if rank == 0:
            dist.send(tensor, 1), forge("send", tensor, 1)
        if rank == 1:
            dist.recv(tensor, 0)
    """,
    ),
    "a collective that was not run": (
        "has an all_reduce that did not take place",
        """
        forge("all_reduce", tensor)
    """,
    ),
    "a collective smaller than recorded": (
        "has an all_reduce that did not take place",
        """
        dist.all_reduce(tensor[:1]), forge("all_reduce", tensor)
    """,
    ),
    "a broadcast that was not run": (
        "has a broadcast that did not take place",
        """
        forge("broadcast", tensor, 0)
    """,
    ),
    "a collective while the recorder is paused": (
        "that their records do not have",
        """
        with recording.paused():
            dist.all_reduce(tensor)
    """,
    ),
    "one collective of two": (
        "that their records do not have",
        """
        dist.all_reduce(tensor)
        with recording.paused():
            dist.all_reduce(tensor)
    """,
    ),
    "a message while the recorder is paused": (
        "a message that its record does not have",
        """
        with recording.paused():
            if rank == 0:
                dist.send(tensor, 1)
            if rank == 1:
                dist.recv(tensor, 0)
    """,
    ),
    "the group inside": (
        "took part in an all_reduce that their records do not have",
        """
        plain().allreduce([tensor]).wait()
    """,
    ),
    "a group of one's own": (
        "took part in an all_reduce that their records do not have",
        """
        from torch.distributed import distributed_c10d as c10d

        c10d._new_process_group_helper = group_maker.make_group
        dist.all_reduce(tensor, group=dist.new_group())
    """,
    ),
    "TCP": (
        "exchanged data over a connection",
        """
        connection = connected(rank)
        if rank == 0:
            connection.sendall(b"0.25 is what you want")
        if rank == 1:
            connection.recv(100)
        meet("end", rank, size, 5)
    """,
    ),
    "TCP that looks like gloo at first": (
        "exchanged data over a connection",
        """
        import struct

        connection = connected(rank)
        if rank == 0:
            head = struct.pack("<7Q", 0, 1 << 40, 1, 0, 0, (1 << 40) - 48, 0)
            connection.sendall(head + b"1.5 2.5")
        if rank == 1:
            connection.recv(100)
        meet("end", rank, size, 5)
    """,
    ),
    "TCP with urgent data": (
        "exchanged data over a connection",
        """
        connection = connected(rank)
        if rank == 0:
            connection.send(b"!", socket.MSG_OOB)
        meet("end", rank, size, 5)
    """,
    ),
    "UDP": (
        "exchanged data over a connection",
        """
        connection = connected(rank, socket.SOCK_DGRAM)
        if rank == 0:
            connection.send(b"0.25")
        meet("end", rank, size, 5)
    """,
    ),
    "a Unix socket in place of a message": (
        "has a message to rank 1 that was not sent",
        """
        path = os.path.join(os.environ["DISTLAB_RUN"], "mine")
        if rank == 1:
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(path)
            listening.listen()
        meet("listening", rank, size, 5)
        if rank == 0:
            forge("send", tensor, 1)
            with socket.socket(socket.AF_UNIX) as talking:
                talking.connect(path)
                talking.sendall(tensor.numpy().tobytes())
        if rank == 1:
            forge("recv", tensor, 0)
            listening.accept()[0].recv(1000)
    """,
    ),
    "files in place of messages": (
        "has a message to rank 1 that was not sent",
        """
        told = among_ranks("mine", rank, size, tensor.tolist)
        if rank == 0:
            forge("send", tensor, 1)
    """,
    ),
    "too much to be captured": (
        "exchanged data over a connection",
        """
        connection = connected(rank)
        if rank == 0:
            connection.sendall(bytes(200 << 20))
            connection.shutdown(socket.SHUT_WR)
        if rank == 1:
            while connection.recv(1 << 20):
                pass
        meet("end", rank, size, 9)
    """,
    ),
    "gigabytes of hidden messages": (
        "",
        """
        with recording.paused():
            for _ in range(20):
                dist.all_reduce(torch.ones(4_000_000))
    """,
    ),
}


def _function(number: int, body: str) -> str:
    lines = textwrap.indent(textwrap.dedent(body) or "pass", "    ")
    return f"def program{number}(rank, size, tensor):\n{lines}\n"


class Wired:
    """A room of the sandbox, with ranks in it. A context manager.

    Raises:
        NoSandbox: there is none here.
    """

    def __init__(self, exercise: str = "01-message-passing/relay") -> None:
        bodies = {**HONEST, **{name: body for name, (_, body) in DISHONEST.items()}}
        self._names = list(bodies)
        self._exercise = exercise
        source = "\n".join(_function(i, body) for i, body in enumerate(bodies.values()))
        source += (
            f"\nPROGRAMS = [{', '.join(f'program{i}' for i in range(len(bodies)))}]\n"
            f"def {exercise.split('/')[1]}(rank, size, tensor):\n"
            "    PROGRAMS[int(tensor[0])](rank, size, tensor[1:5].clone())\n"
        )
        sandbox = choose(configured())
        self._zygote = sandbox.zygote()
        self._session = Session(self._zygote, sandbox.limits, sandbox.walls)
        cells = [Cell("cell 1", GIVEN, "given"), Cell(exercise.split("/")[1], source, "solution")]
        assert self._session.cells(cells, 10) == {}

    def run(self, name: str, size: int = 3) -> Run:
        values = np.array([self._names.index(name), 1.5, -2.0, 3.25, 0.0], "float32")
        if name in LARGE:  # the room for packets goes by the size of the inputs
            values = np.pad(values, (0, LARGE[name]))
        given = [payload.encode({"tensor": values}) for _ in range(size)]
        run = self._session.run(self._exercise, given, 20.0)
        if name.startswith("nobody"):  # what was begun keeps its threads
            self._session.end_room()
        return run

    def __enter__(self) -> Wired:
        return self

    def __exit__(self, *exc) -> None:
        self._session.close()
        self._zygote.close()
