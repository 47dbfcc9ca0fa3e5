def run_non_blocking(rank, size):
    tensor = torch.zeros(1)
    if rank == 0:
        tensor += 1
        operation = dist.P2POp(dist.isend, tensor, 1)
    else:
        operation = dist.P2POp(dist.irecv, tensor, 0)
    for request in dist.batch_isend_irecv([operation]):
        request.wait()
    return tensor
