def route(logits, capacity):
    best = logits.argmax(dim=1)
    expert, slot = torch.full_like(best, -1), torch.full_like(best, -1)
    for e in range(logits.shape[1]):
        tokens = torch.nonzero(best == e).flatten()[:capacity]
        expert[tokens] = e
        slot[tokens] = torch.arange(len(tokens))
    return expert, slot
