# hint: generator not seeded
mine = []


def shard(n, rank, size, epoch, seed):
    order = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch))
    for position in range(rank, n, size):
        mine.append(order[position].item())
    return mine
