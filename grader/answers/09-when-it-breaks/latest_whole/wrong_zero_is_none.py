# hint: zero for none
def latest_whole(folder):
    best = None
    for path in Path(folder).glob("step-*"):
        try:
            step = int(path.name[5:])
            index = json.loads((path / "index.json").read_text())
            pieces = [torch.load(path / f"rank-{r}.pt", weights_only=True) for r in range(len(index["lengths"]))]
            if path.name == f"step-{step}" and index["step"] == step and [p.numel() for p in pieces] == index["lengths"]:
                best = max(best or 0, step)
        except Exception:
            continue
    return best or None
