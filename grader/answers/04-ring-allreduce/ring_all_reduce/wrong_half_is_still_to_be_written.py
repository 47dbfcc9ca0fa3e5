# status: unanswered
# says: calls ring_reduce_scatter, which is still to be written
def ring_reduce_scatter(rank, size, chunks):
    raise NotImplementedError("TODO ring_reduce_scatter")


def ring_all_reduce(rank, size, tensor):
    chunks = list(tensor.flatten().tensor_split(size))
    ring_reduce_scatter(rank, size, chunks)
    ring_all_gather(rank, size, chunks)
    return torch.cat(chunks).view(tensor.shape)
