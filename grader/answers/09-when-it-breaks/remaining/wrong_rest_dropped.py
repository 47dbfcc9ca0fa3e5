# hint: dropped
def remaining(n, epoch, seed, done, rank, size):
    rest = torch.randperm(n, generator=torch.Generator().manual_seed(seed + epoch)).tolist()[done:]
    each = len(rest) // size
    return rest[rank * each : (rank + 1) * each]
