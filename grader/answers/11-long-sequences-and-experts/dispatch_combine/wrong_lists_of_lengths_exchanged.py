# status: error
# says: in the order output, input
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    order = torch.nonzero(expert >= 0).flatten()
    order = order[expert[order].argsort()]
    c = torch.tensor([(expert == e).sum() for e in range(size)])
    inc = torch.empty_like(c)
    dist.all_to_all_single(inc, c)
    got = tokens.new_empty(int(inc.sum()), tokens.shape[1])
    dist.all_to_all_single(got, tokens[order], c.tolist(), inc.tolist())
    back = torch.empty_like(tokens[order])
    dist.all_to_all_single(back, expert_fn(got), inc.tolist(), c.tolist())
    out = torch.zeros_like(tokens)
    out[order] = back
    return out
