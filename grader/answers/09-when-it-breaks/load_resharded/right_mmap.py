def load_resharded(rank, size, folder, step):
    place = f"{folder}/step-{step}"
    with open(f"{place}/index.json") as file:
        index = json.load(file)
    n = sum(index["lengths"])
    mine = range(rank * n // size, (rank + 1) * n // size)
    values, start = [], 0
    for r, length in enumerate(index["lengths"]):
        wanted = range(max(mine.start, start), min(mine.stop, start + length))
        if len(wanted):
            piece = torch.load(f"{place}/rank-{r}.pt", mmap=True, weights_only=True)
            values += piece[wanted.start - start : wanted.stop - start].tolist()
        start += length
    return torch.tensor(values, dtype=torch.float32)
