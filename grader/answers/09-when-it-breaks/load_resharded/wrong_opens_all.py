# hint: files in vain
def load_resharded(rank, size, folder, step):
    place = Path(folder) / f"step-{step}"
    lengths = json.loads((place / "index.json").read_text())["lengths"]
    flat = torch.cat([torch.load(place / f"rank-{r}.pt") for r in range(len(lengths))])
    n = len(flat)
    return flat[rank * n // size : (rank + 1) * n // size].clone()
