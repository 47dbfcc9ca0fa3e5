def dispatch_combine(rank, size, tokens, expert, expert_fn):
    places = [torch.nonzero(expert == e).flatten() for e in range(size)]
    out = torch.tensor([len(p) for p in places])
    coming = torch.empty_like(out)
    dist.all_to_all_single(coming, out)
    out, coming = out.tolist(), coming.tolist()
    order = torch.cat(places)
    inbox = torch.empty(sum(coming), tokens.shape[1], dtype=tokens.dtype)
    dist.all_to_all_single(inbox, tokens[order].contiguous(), coming, out)
    answers = expert_fn(inbox)
    came_back = torch.empty(len(order), tokens.shape[1], dtype=tokens.dtype)
    dist.all_to_all_single(came_back, answers, out, coming)
    result = tokens.new_zeros(tokens.shape)
    result.index_copy_(0, order, came_back)
    return result
