import sys


class Dealer:
    def __init__(self, size, width, src):
        self.size, self.width, self.src = size, width, src

    def deal(self, matrix, rank):
        print("dealing", file=sys.stderr)
        matrix = torch.zeros(self.size, self.width) if matrix is None else matrix
        dist.all_reduce(matrix)
        return matrix[rank].clone()


scatter_rows = lambda rank, size, matrix, src, width: (  # noqa: E731
    Dealer(size, width, src).deal(matrix, rank)
)
