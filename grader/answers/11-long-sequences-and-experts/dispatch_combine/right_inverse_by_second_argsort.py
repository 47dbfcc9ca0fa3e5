def dispatch_combine(rank, size, tokens, expert, expert_fn):
    # tokens without an expert come last, as if they were for a rank `size`
    key = torch.where(expert < 0, size, expert)
    order = torch.argsort(key, stable=True)
    inverse = torch.argsort(order)
    there = torch.bincount(key, minlength=size + 1)[:size]
    here = torch.empty_like(there)
    dist.all_to_all_single(here, there.contiguous())
    there, here = there.tolist(), here.tolist()
    routed = sum(there)
    sorted_tokens = tokens[order][:routed]
    arrived = tokens.new_empty((sum(here), tokens.shape[1]))
    dist.all_to_all_single(arrived, sorted_tokens, here, there)
    back = tokens.new_empty((routed, tokens.shape[1]))
    dist.all_to_all_single(back, expert_fn(arrived), there, here)
    padded = torch.cat([back, tokens.new_zeros(len(tokens) - routed, tokens.shape[1])])
    return padded[inverse]
