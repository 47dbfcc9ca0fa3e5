# status: error
# hint: lengths that are none
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    order = expert.argsort()
    order = order[expert[order] >= 0]
    leaving = torch.bincount(expert[order], minlength=size)
    arriving = torch.empty_like(leaving)
    w = dist.all_to_all_single(arriving, leaving, async_op=True)
    there, back = leaving.tolist(), arriving.tolist()
    w.wait()
    outgoing = tokens[order]
    guests = tokens.new_empty(sum(back), tokens.shape[1])
    dist.all_to_all_single(guests, outgoing, back, there)
    returned = torch.empty_like(outgoing)
    dist.all_to_all_single(returned, expert_fn(guests), there, back)
    result = torch.zeros_like(tokens)
    result[order] = returned
    return result
