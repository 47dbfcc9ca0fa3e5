# status: error
# hint: no folder
# says: FileNotFoundError
def latest_whole(folder):
    best = None
    for name in os.listdir(folder):
        try:
            step = int(name[5:])
            place = Path(folder, name)
            index = json.loads((place / "index.json").read_text())
            pieces = [torch.load(place / f"rank-{r}.pt", weights_only=True) for r in range(len(index["lengths"]))]
            if name == f"step-{step}" and index["step"] == step and [p.numel() for p in pieces] == index["lengths"]:
                best = step if best is None else max(best, step)
        except Exception:
            continue
    return best
