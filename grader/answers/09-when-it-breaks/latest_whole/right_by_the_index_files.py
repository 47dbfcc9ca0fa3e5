import glob


def latest_whole(folder):
    best = -1
    for name in glob.glob(os.path.join(glob.escape(folder), "step-*", "index.json")):
        place = os.path.dirname(name)
        try:
            index = json.loads(Path(name).read_bytes())
            step = index["step"]
            if os.path.basename(place) != f"step-{step}" or type(step) is not int or step <= best:
                continue
            for rank, length in enumerate(index["lengths"]):
                tensor = torch.load(f"{place}/rank-{rank}.pt", weights_only=True)
                if tensor.size(0) != length:
                    raise ValueError("another length")
        except Exception:
            continue
        best = step
    return best if best >= 0 else None
