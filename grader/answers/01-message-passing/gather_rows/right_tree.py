def gather_rows(rank, size, row, dst):
    me = (rank - dst) % size
    have = {rank: row}
    step = 1
    while step < size:
        if me % (2 * step) == step:
            keys = sorted(have)
            to = (me - step + dst) % size
            dist.send(torch.stack([have[k] for k in keys]), to)
            break
        if me % (2 * step) == 0 and me + step < size:
            n = min(step, size - (me + step))
            keys = sorted((k + dst) % size for k in range(me + step, me + step + n))
            buf = row.new_empty((n, row.numel()))
            dist.recv(buf, (me + step + dst) % size)
            have.update(zip(keys, buf))
        step *= 2
    return torch.stack([have[k] for k in range(size)]) if rank == dst else None
