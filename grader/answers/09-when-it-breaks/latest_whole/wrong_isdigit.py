# status: error
# says: str.isdigit is no safeguard
def latest_whole(folder, below=float("inf")):
    names = os.listdir(folder) if os.path.isdir(folder) else []
    steps = [int(n[5:]) for n in names if n.startswith("step-") and n[5:].isdigit() and int(n[5:]) < below and n == f"step-{int(n[5:])}"]
    if not steps:
        return None
    top = max(steps)
    try:
        index = json.load(open(f"{folder}/step-{top}/index.json"))
        lengths = [torch.load(f"{folder}/step-{top}/rank-{r}.pt", weights_only=True).shape[0] for r in range(len(index["lengths"]))]
        if index == {"step": top, "lengths": lengths}:
            return top
    except Exception:
        pass
    return latest_whole(folder, top)
