import sys


def all_gather_rows(rank, size, row):
    print("one broadcast a rank", file=sys.stderr)
    rows = []
    for src in range(size):
        buffer = row.clone() if src == rank else torch.empty_like(row)
        dist.broadcast(buffer, src)
        rows.append(buffer)
    return torch.stack(rows, 0)
