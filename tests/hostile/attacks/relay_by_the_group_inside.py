# tries: the process group inside the one that records
# status: tampered
# says: took part in an all_gather that their records do not have

def relay(rank, size, tensor):
    from torch.distributed import distributed_c10d as c10d

    rows = [torch.empty_like(tensor) for _ in range(size)]
    c10d._get_default_group()._group.allgather([rows], [tensor]).wait()
    if rank > 0:
        dist.recv(torch.empty_like(tensor), rank - 1)
    if rank < size - 1:
        dist.send(tensor, rank + 1)
    return sum(rows[1 : rank + 1], rows[0])
