# hint: nothing sent
def dispatch_combine(rank, size, tokens, expert, expert_fn):
    result = torch.zeros_like(tokens)
    result[expert >= 0] = expert_fn(tokens[expert >= 0])
    return result
