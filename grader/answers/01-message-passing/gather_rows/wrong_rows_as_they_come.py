# status: wrong
# says: schedules. When rank
import time


def gather_rows(rank, size, row, dst):
    """Rows in the order of arrival, which is that of ranks as long as each is a little later."""
    if rank != dst:
        time.sleep(0.05 * rank)
        dist.send(row, dst)
        return None
    rows = []
    for r in range(size):
        rows.append(row if r == rank else torch.empty_like(row))
        if r != rank:
            dist.recv(rows[-1])
    return torch.stack(rows)
