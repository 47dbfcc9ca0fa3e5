# hint: as it was saved
def load_resharded(rank, size, folder, step):
    place = Path(folder) / f"step-{step}"
    json.loads((place / "index.json").read_text())
    return torch.load(place / f"rank-{rank}.pt")
