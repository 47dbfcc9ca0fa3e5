def shard_flat(rank, size, tensors):
    flat = torch.cat([t.view(-1) for t in tensors])
    k = -(-flat.numel() // size)
    mine = flat[rank * k : rank * k + k]
    return torch.cat([mine, mine.new_zeros(k - len(mine))])
