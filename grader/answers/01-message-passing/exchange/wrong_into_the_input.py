# hint: input overwritten
def exchange(rank, size, tensor):
    mine = tensor.clone()
    requests = [dist.isend(mine, rank ^ 1), dist.irecv(tensor, rank ^ 1)]
    for request in requests:
        request.wait()
    return tensor
