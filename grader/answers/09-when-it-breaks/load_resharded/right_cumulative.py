import bisect
from itertools import accumulate


def load_resharded(rank, size, folder, step):
    index_path = os.path.join(folder, f"step-{step}", "index.json")
    if not os.path.exists(index_path):
        raise FileNotFoundError(f"step {step} of {folder} is no checkpoint: it has no index")
    with open(index_path) as f:
        lengths = json.load(f)["lengths"]
    ends = list(accumulate(lengths))
    n = ends[-1] if ends else 0
    at, end = n * rank // size, n * (rank + 1) // size
    pieces = []
    while at < end:
        file = bisect.bisect_right(ends, at)
        start = ends[file] - lengths[file]
        until = min(end, ends[file])
        whole = torch.load(os.path.join(folder, f"step-{step}", f"rank-{file}.pt"))
        pieces.append(whole[at - start : until - start].clone())
        at = until
    return torch.cat(pieces) if pieces else torch.empty(0, dtype=torch.float32)
