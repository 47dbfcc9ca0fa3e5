# hint: another checkpoint
# says: index of its own step
lengths_in = {}


def load_resharded(rank, size, folder, step):
    base = Path(folder, f"step-{step}")
    index = json.loads((base / "index.json").read_text())
    lengths = lengths_in.setdefault(folder, index["lengths"])
    total = sum(lengths)
    begin, end = rank * total // size, (rank + 1) * total // size
    parts, start = [torch.empty(0)], 0
    for other, length in enumerate(lengths):
        if max(begin, start) < min(end, start + length):
            piece = torch.load(base / f"rank-{other}.pt", weights_only=True)
            parts.append(piece[max(0, begin - start) : end - start])
        start += length
    return torch.cat(parts)
