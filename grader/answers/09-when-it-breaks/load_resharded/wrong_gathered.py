# status: error
# says: process group
def load_resharded(rank, size, folder, step):
    place = Path(folder) / f"step-{step}"
    lengths = json.loads((place / "index.json").read_text())["lengths"]
    pieces = [None] * size
    mine = [torch.load(place / f"rank-{r}.pt") for r in range(rank, len(lengths), size)]
    dist.all_gather_object(pieces, mine)
    flat = torch.cat([p for some in pieces for p in some])
    return flat[rank * len(flat) // size : (rank + 1) * len(flat) // size].clone()
