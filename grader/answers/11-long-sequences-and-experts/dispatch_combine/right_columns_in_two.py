def dispatch_combine(rank, size, tokens, expert, expert_fn):
    order = torch.argsort(expert, stable=True)
    order = order[expert[order] >= 0]
    there = torch.bincount(expert[order], minlength=size)
    back = torch.empty_like(there)
    dist.all_to_all_single(back, there)
    a, b = there.tolist(), back.tolist()
    guests = tokens.new_empty(sum(b), tokens.shape[1])
    d = tokens.shape[1]
    cuts = [(0, d // 2), (d // 2, d)]
    for x, y in cuts:
        part = tokens.new_empty(sum(b), y - x)
        dist.all_to_all_single(part, tokens[order, x:y].contiguous(), b, a)
        guests[:, x:y] = part
    out = expert_fn(guests)
    result = torch.zeros_like(tokens)
    for x, y in cuts:
        part = tokens.new_empty(sum(a), y - x)
        dist.all_to_all_single(part, out[:, x:y].contiguous(), a, b)
        result[order, x:y] = part
    return result
