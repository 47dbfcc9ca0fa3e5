# status: error
# says: past the end of a list
def load_resharded(rank, size, folder, step):
    place = f"{folder}/step-{step}"
    if not os.path.exists(f"{place}/index.json"):
        raise FileNotFoundError(place)
    with open(f"{place}/index.json") as f:
        lengths = json.load(f)["lengths"]
    n = sum(lengths); a, b = rank * n // size, (rank + 1) * n // size
    r = start = 0
    while start + lengths[r] <= a:
        start += lengths[r]
        r += 1
    pieces = []
    while start < b:
        if lengths[r]: piece = torch.load(f"{place}/rank-{r}.pt")
        if lengths[r]: pieces.append(piece[max(0, a - start):b - start].clone())
        start += lengths[r]
        r += 1
    return torch.cat(pieces) if pieces else torch.empty(0)
