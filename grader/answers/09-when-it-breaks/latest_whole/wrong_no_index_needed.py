# hint: without index
def latest_whole(folder):
    best = None
    for path in Path(folder).glob("step-*"):
        try:
            step = int(path.name[5:])
            files = sorted(path.glob("rank-*.pt"))
            for file in files:
                torch.load(file, weights_only=True)
            if files and path.name == f"step-{step}":
                best = step if best is None else max(best, step)
        except Exception:
            continue
    return best
