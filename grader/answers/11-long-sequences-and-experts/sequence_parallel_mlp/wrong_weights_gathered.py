# hint: weights gathered
def sequence_parallel_mlp(rank, size, x, w1, w2):
    both = torch.cat([w1.flatten(), w2.T.flatten()])
    parts = [torch.empty_like(both) for _ in range(size)]
    dist.all_gather(parts, both)
    halves = [part.chunk(2) for part in parts]
    w1 = torch.cat([first.view_as(w1) for first, _ in halves])
    w2 = torch.cat([second.view(w2.T.shape) for _, second in halves])
    return F.gelu(x @ w1.T) @ w2
