class Collect:
    def __init__(self, rank, size, row):
        self.rank, self.size, self.row = rank, size, row

    def run(self):
        matrix = torch.empty(self.size, len(self.row), dtype=self.row.dtype)
        dist.gather(self.row, list(matrix.unbind(0)) if self.rank == 0 else None, dst=0)
        dist.broadcast(matrix, 0)
        return matrix


all_gather_rows = lambda rank, size, row: Collect(rank, size, row).run()  # noqa: E731
