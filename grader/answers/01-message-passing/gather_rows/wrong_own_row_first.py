# hint: rows in another order
def gather_rows(rank, size, row, dst):
    if rank != dst:
        dist.send(row, dst)
        return None
    rows = [row]
    for other in range(size):
        if other != dst:
            buffer = torch.empty_like(row)
            dist.recv(buffer, other)
            rows.append(buffer)
    return torch.stack(rows)
