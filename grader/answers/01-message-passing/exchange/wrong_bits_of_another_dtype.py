# hint: other dtype
# says: sends float32, but rank 0's irecv(src=1)
def exchange(rank, size, tensor):
    received = torch.empty(tensor.shape, dtype=torch.int32)
    requests = [dist.isend(tensor, rank ^ 1), dist.irecv(received, rank ^ 1)]
    for request in requests:
        request.wait()
    return received.to(tensor.dtype)
