# status: deadlock
# says: rank 1 gives rank 0 1 elements where it has room for 1/2
# `bincount` without `minlength`: ranks whose largest expert differs have lists of other lengths.
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    order = torch.argsort(expert, stable=True)
    order = order[expert[order] >= 0]
    leaving = torch.bincount(expert[order])
    coming = torch.empty_like(leaving)
    dist.all_to_all_single(coming, leaving)
    leaving, coming = leaving.tolist(), coming.tolist()
    mine = torch.empty(sum(coming), tokens.shape[1], dtype=tokens.dtype)
    dist.all_to_all_single(mine, tokens[order], coming, leaving)
    back = torch.empty_like(tokens[order])
    dist.all_to_all_single(back, expert_fn(mine), leaving, coming)
    output = torch.zeros_like(tokens)
    output[order] = back
    return output
