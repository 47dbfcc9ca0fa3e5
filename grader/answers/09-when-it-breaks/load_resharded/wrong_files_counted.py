# status: error
# says: count neither the files
def load_resharded(rank, size, folder, step):
    place = os.path.join(folder, f"step-{step}")
    if not os.path.isdir(place): raise FileNotFoundError(place)
    lengths = json.load(open(os.path.join(place, "index.json")))["lengths"]
    saved = len([f for f in os.listdir(place) if f.endswith(".pt")])
    n = sum(lengths); lo, hi = rank * n // size, (rank + 1) * n // size
    parts, at = [torch.empty(0)], 0
    for i in range(saved):
        k = lengths[i]
        a, b = max(lo, at), min(hi, at + k)
        if a < b: parts.append(torch.load(os.path.join(place, f"rank-{i}.pt"), weights_only=True)[a - at:b - at])
        at += k
    return torch.cat(parts)
