def dispatch_combine(rank, size, tokens, expert, expert_fn):
    result = torch.zeros_like(tokens)
    if size == 1:
        result[expert == 0] = expert_fn(tokens[expert == 0])
        return result
    order = torch.cat([torch.nonzero(expert == e).view(-1) for e in range(size)])
    there = torch.stack([(expert == e).sum() for e in range(size)])
    here = torch.zeros_like(there)
    dist.all_to_all_single(here, there)
    there, here = there.tolist(), here.tolist()
    guests = torch.empty(sum(here), tokens.shape[1]).to(tokens)
    dist.all_to_all_single(guests, tokens.index_select(0, order), here, there)
    done, back = expert_fn(guests), torch.empty(len(order), tokens.shape[1]).to(tokens)
    dist.all_to_all_single(back, done, there, here)
    for place, row in zip(order.tolist(), back):
        result[place] = row
    return result
