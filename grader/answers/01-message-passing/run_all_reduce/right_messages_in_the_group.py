def run_all_reduce(rank, size, tensor):
    group = dist.new_group(list(range(size)))
    total = tensor.clone()
    received = [torch.empty_like(tensor) for _ in range(size)]
    operations = []
    for other in range(size):
        if other != rank:
            operations.append(dist.P2POp(dist.isend, tensor, other, group))
            operations.append(dist.P2POp(dist.irecv, received[other], other, group))
    if operations:
        for request in dist.batch_isend_irecv(operations):
            request.wait()
    for other in range(size):
        if other != rank:
            total += received[other]
    return total
