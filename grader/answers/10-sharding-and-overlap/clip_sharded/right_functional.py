from torch.distributed import _functional_collectives as functional


def clip_sharded(rank, size, pieces, max_norm):
    square = sum((p.double().pow(2).sum() for p in pieces), torch.zeros((), dtype=torch.float64))
    square = functional.all_reduce(square, "sum", dist.group.WORLD)
    norm = square.sqrt().item()
    scale = torch.clamp(torch.tensor(max_norm / (norm + 1e-6)), max=1.0).item()
    for p in pieces:
        p.mul_(scale)
    return norm
