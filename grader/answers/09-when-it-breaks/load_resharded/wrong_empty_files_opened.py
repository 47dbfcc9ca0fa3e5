# hint: files in vain
def load_resharded(rank, size, folder, step):
    place = Path(folder) / f"step-{step}"
    lengths = json.loads((place / "index.json").read_text())["lengths"]
    n = sum(lengths)
    a, b = rank * n // size, (rank + 1) * n // size
    parts, start = [torch.empty(0)], 0
    for r, length in enumerate(lengths):
        if start <= b and start + length >= a:
            parts.append(torch.load(place / f"rank-{r}.pt")[max(a - start, 0) : max(b - start, 0)])
        start += length
    return torch.cat(parts)
