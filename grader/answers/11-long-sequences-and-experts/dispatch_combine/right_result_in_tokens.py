def dispatch_combine(rank, size, tokens, expert, expert_fn):
    order = torch.argsort(expert, stable=True)
    order = order[expert[order] >= 0]
    there = torch.bincount(expert[order], minlength=size)
    back = torch.empty_like(there)
    dist.all_to_all_single(back, there)
    a, b = there.tolist(), back.tolist()
    guests = tokens.new_empty(sum(b), tokens.shape[1])
    dist.all_to_all_single(guests, tokens[order], b, a)
    home = tokens.new_empty(len(order), tokens.shape[1])
    dist.all_to_all_single(home, expert_fn(guests), a, b)
    tokens.zero_()
    tokens[order] = home
    return tokens
