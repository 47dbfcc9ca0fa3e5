def load_resharded(rank, size, folder, step):
    place = os.path.join(folder, "step-" + str(step))
    try:
        lengths = json.load(open(os.path.join(place, "index.json")))["lengths"]
    except OSError as error:
        raise FileNotFoundError(f"no checkpoint of step {step} in {folder}") from error
    owners = [(r, i) for r, length in enumerate(lengths) for i in range(length)]
    n = len(owners)
    mine = owners[rank * n // size : (rank + 1) * n // size]
    files = {r: torch.load(f"{place}/rank-{r}.pt", map_location="cpu") for r in {r for r, _ in mine}}
    out = torch.empty(len(mine))
    for k, (r, i) in enumerate(mine):
        out[k] = files[r][i]
    return out
