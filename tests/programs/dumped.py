"""Ranks of a plain gloo job that leave Flight Recorder dumps: `python dumped.py FOLDER KIND`.

- "missing": rank 2 has no third batch; it does something else while the others wait for it.
- "gone": it ends in place of that, and the others' waits end by an error.
- "order": it calls a broadcast where the others all-reduce.
- "none": all ends well.
- "every": every collective there is ends well.
"""

import os
import pickle
import sys
import threading
import time
from pathlib import Path

os.environ.update(GLOO_SOCKET_IFNAME="lo", TORCH_FR_BUFFER_SIZE="2000")

import torch
import torch.distributed as dist

SIZE = 3


def every(rank):
    one, some = torch.ones(3), torch.ones(SIZE * 3)
    rows = [torch.empty(3) for _ in range(SIZE)]
    dist.broadcast(one, 1)
    dist.reduce(one, 2)
    dist.all_gather(rows, one)
    dist.gather(one, rows if rank == 1 else None, 1)
    dist.scatter(one, rows if rank == 0 else None, 0)
    dist.reduce_scatter(one, rows)
    dist.all_to_all_single(some, some.clone())
    dist.all_gather_object([None] * SIZE, {"rank": "x" * rank})
    dist.broadcast_object_list([rank], 0)
    dist.gather_object(rank, [None] * SIZE if rank == 0 else None, 0)
    dist.scatter_object_list([None], [1, 2, 3] if rank == 0 else None, 0)
    dist.barrier()
    dist.monitored_barrier()


def train(rank, kind, store):
    if kind == "every":
        return every(rank)
    gradient = torch.ones(4)
    pairs = dist.new_group([0, 1])
    for batch in range(2 if rank == 2 and kind != "none" else 3):
        if batch == 2:
            store.set(f"rank {rank} has a third batch", "")
        dist.all_reduce(gradient)
    if kind == "gone" and rank == 2:  # nobody needs its data any more
        store.wait(["rank 0 has a third batch", "rank 1 has a third batch"])
    if rank < 2:
        dist.all_reduce(gradient, group=pairs)
    if kind == "order" and rank == 2:
        dist.broadcast(gradient, 0)
    if kind == "none":
        dist.barrier()


def dump(thread, stands) -> bytes:
    """The dump of a rank whose function has ended, or stands in its third call as it should."""
    while True:
        ended = not thread.is_alive()
        data = torch._C._distributed_c10d._dump_fr_trace()
        retired = [entry["retired"] for entry in pickle.loads(data)["entries"]]
        if (ended and all(retired)) or (stands and retired == [True, True, False]):
            return data
        time.sleep(0.01)  # gloo notes that a call has ended a little later


def main(rank: int, folder: Path, kind: str, dumped: int, go: int) -> None:
    store = dist.FileStore(str(folder / "store"), SIZE)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=SIZE)
    thread = threading.Thread(target=train, args=(rank, kind, store), daemon=True)
    thread.start()
    stands = kind in ("missing", "order")
    (folder / f"dump_rank_{rank}").write_bytes(dump(thread, stands))
    os.write(dumped, b".")
    if not (kind == "gone" and rank == 2):
        os.read(go, 1)  # whoever ends earlier breaks the waits of the others


if __name__ == "__main__":
    here, which = Path(sys.argv[1]), sys.argv[2]
    (all_dumped, dumped), (go, let_go) = os.pipe(), os.pipe()
    ranks = []
    for number in range(SIZE):
        if (pid := os.fork()) == 0:
            os.close(let_go)
            main(number, here, which, dumped, go)
            os._exit(0)
        ranks.append(pid)
    for _ in ranks:
        os.read(all_dumped, 1)
    os.close(let_go)
    for pid in ranks:
        os.waitpid(pid, 0)
