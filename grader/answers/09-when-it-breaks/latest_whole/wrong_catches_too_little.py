# status: error
# hint: not passed over
def latest_whole(folder):
    best = None
    for path in Path(folder).glob("step-*"):
        if not path.name[5:].isdigit():
            continue
        step = int(path.name[5:])
        try:
            index = json.loads((path / "index.json").read_text())
            pieces = [torch.load(path / f"rank-{r}.pt", weights_only=True) for r in range(len(index["lengths"]))]
        except (FileNotFoundError, json.JSONDecodeError):
            continue
        if path.name == f"step-{step}" and index["step"] == step and [p.numel() for p in pieces] == index["lengths"]:
            best = step if best is None else max(best, step)
    return best
