# hint: numbered through
_seen = {}


def route(logits, capacity):
    e = logits.argmax(1)
    seen = _seen.setdefault((logits.shape), [0] * logits.shape[1])
    s = []
    for x in e.tolist():
        s.append(seen[x]); seen[x] += 1
    s = torch.tensor(s, dtype=torch.int64)
    gone = s >= capacity
    return e.masked_fill(gone, -1), s.masked_fill(gone, -1)
