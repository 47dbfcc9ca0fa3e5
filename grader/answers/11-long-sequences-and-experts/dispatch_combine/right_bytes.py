def dispatch_combine(rank, size, tokens, expert, expert_fn):
    t, d = tokens.shape
    wide = d * tokens.element_size()
    going = torch.stack([(expert == r).sum() for r in range(size)])
    coming = torch.zeros_like(going)
    dist.all_to_all_single(coming, going)
    order = torch.cat([torch.nonzero(expert == r).flatten() for r in range(size)])
    a, b = [int(x) * wide for x in going], [int(x) * wide for x in coming]
    box = torch.empty(sum(b), dtype=torch.uint8)
    dist.all_to_all_single(box, tokens[order].reshape(-1).view(torch.uint8), b, a)
    result = expert_fn(box.view(tokens.dtype).view(-1, d))
    home = torch.empty(sum(a), dtype=torch.uint8)
    dist.all_to_all_single(home, result.reshape(-1).view(torch.uint8), a, b)
    return torch.zeros_like(tokens).index_copy_(0, order, home.view(tokens.dtype).view(-1, d))
