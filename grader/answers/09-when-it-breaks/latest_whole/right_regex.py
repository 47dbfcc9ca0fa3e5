import re


def latest_whole(folder):
    root = Path(folder)
    if not root.is_dir():
        return None
    best = None
    for path in root.iterdir():
        match = re.fullmatch(r"step-(0|[1-9][0-9]*)", path.name)
        if not match:
            continue
        step = int(match[1])
        try:
            index = json.loads((path / "index.json").read_text())
            if index["step"] != step:
                continue
            whole = True
            for rank, length in enumerate(index["lengths"]):
                piece = torch.load(path / f"rank-{rank}.pt", weights_only=True, map_location="cpu")
                whole = whole and isinstance(piece, torch.Tensor) and piece.numel() == length
        except Exception:
            continue
        if whole and (best is None or step > best):
            best = step
    return best
