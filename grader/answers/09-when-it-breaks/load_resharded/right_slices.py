def load_resharded(rank, size, folder, step):
    here = Path(folder) / f"step-{step}"
    lengths = json.loads((here / "index.json").read_text())["lengths"]
    total = sum(lengths)
    low, high = (r * total // size for r in (rank, rank + 1))
    result = torch.zeros(high - low, dtype=torch.float32)
    offset = 0
    for saved, length in enumerate(lengths):
        a, b = max(low, offset), min(high, offset + length)
        if b > a:
            stored = torch.load(here / f"rank-{saved}.pt", weights_only=True)
            result[a - low : b - low] = stored[a - offset : b - offset]
        offset += length
    return result
