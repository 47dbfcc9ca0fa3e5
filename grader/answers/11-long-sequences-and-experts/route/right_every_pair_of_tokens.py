def route(logits, capacity):
    expert, slot = [], []
    for token in range(len(logits)):
        best = logits[token].argmax()
        earlier = 0
        for other in range(token):
            if logits[other].argmax() == best:
                earlier += 1
        expert.append(int(best) if earlier < capacity else -1)
        slot.append(earlier if earlier < capacity else -1)
    return torch.tensor(expert, dtype=torch.int64), torch.tensor(slot, dtype=torch.int64)
