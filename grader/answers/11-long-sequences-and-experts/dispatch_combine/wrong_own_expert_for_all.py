# hint: nothing sent
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    return torch.stack([expert_fn(t[None])[0] if e >= 0 else t * 0 for t, e in zip(tokens, expert)])
