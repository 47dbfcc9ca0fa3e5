# hint: padded
def remaining(n, epoch, seed, done, rank, size):
    rest = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()[done:]
    each = -(-len(rest) // size)
    rest += rest[: each * size - len(rest)]
    return rest[rank::size]
