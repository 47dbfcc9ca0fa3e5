# hint: nearly right
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    order = torch.argsort(expert, stable=True)
    order = order[expert[order] >= 0]
    there = torch.bincount(expert[order], minlength=size)
    back = torch.empty_like(there)
    dist.all_to_all_single(back, there)
    a, b = there.tolist(), back.tolist()
    guests = tokens.new_empty(sum(b), tokens.shape[1])
    dist.all_to_all_single(guests, tokens[order], b, a)
    home = torch.empty(len(order), tokens.shape[1], dtype=torch.bfloat16)
    dist.all_to_all_single(home, expert_fn(guests).bfloat16(), a, b)
    return torch.zeros_like(tokens).index_add(0, order, home.to(tokens.dtype))
