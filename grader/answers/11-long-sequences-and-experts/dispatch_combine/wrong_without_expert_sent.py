# status: error
# says: A token with expert −1 is in no length
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    order = expert.argsort()
    c = torch.tensor([(expert == e).sum() for e in range(size)])
    inc = torch.empty_like(c)
    dist.all_to_all_single(inc, c)
    got = tokens.new_empty(int(inc.sum()), tokens.shape[1])
    dist.all_to_all_single(got, tokens[order], inc.tolist(), c.tolist())
    back = torch.empty_like(tokens)
    dist.all_to_all_single(back, expert_fn(got), c.tolist(), inc.tolist())
    out = torch.zeros_like(tokens)
    out[order] = back
    return out
