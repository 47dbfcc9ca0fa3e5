def clip_sharded(rank, size, pieces, max_norm):
    t = torch.zeros(1)
    for p in pieces:
        t += torch.linalg.vector_norm(p, dtype=torch.float64).float() ** 2
    dist.all_reduce(t)
    norm = t.sqrt()[0]
    holders = []
    for p in pieces:
        q = torch.nn.Parameter(torch.zeros_like(p))
        q.grad = p
        holders.append(q)
    if holders:
        torch.nn.utils.clip_grads_with_norm_(holders, max_norm, norm)
    return norm.item()
