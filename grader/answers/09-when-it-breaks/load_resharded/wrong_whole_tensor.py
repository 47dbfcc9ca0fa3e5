# hint: everything
def load_resharded(rank, size, folder, step):
    place = Path(folder) / f"step-{step}"
    lengths = json.loads((place / "index.json").read_text())["lengths"]
    return torch.cat([torch.load(place / f"rank-{r}.pt") for r in range(len(lengths))])
