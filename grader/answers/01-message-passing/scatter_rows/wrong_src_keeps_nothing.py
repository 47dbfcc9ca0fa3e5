# status: wrong
# hint: nothing arrived
def scatter_rows(rank, size, matrix, src, width):
    row = torch.zeros(width)
    if rank == src:
        for other in range(size):
            if other != src:
                dist.send(matrix[other], other)
    else:
        dist.recv(row, src)
    return row
