def latest_whole(folder):
    def step_of(path):
        try:
            step = int(path.name.removeprefix("step-"))
        except ValueError:
            return None
        return step if path.name == f"step-{step}" and step >= 0 else None

    def whole(path, step):
        try:
            with (path / "index.json").open("rb") as file:
                index = json.load(file)
            lengths = [len(torch.load(str(path / f"rank-{r}.pt"))) for r in range(len(index["lengths"]))]
            return lengths == index["lengths"] and index["step"] == step
        except Exception:
            return False

    found = [(step_of(p), p) for p in Path(folder).glob("step-*")]
    return max((s for s, p in found if s is not None and whole(p, s)), default=None)
