memory = torch.zeros(1 << 12).untyped_storage()


def exchange(rank, size, tensor):
    """What is sent is copied aside, into memory that is made once."""
    copied = tensor.new_empty(0).set_(memory)[: tensor.numel()]
    if len(copied) < tensor.numel():
        copied = torch.empty_like(tensor).view(-1)
    copied.copy_(tensor.view(-1))
    received = torch.empty_like(tensor)
    requests = [dist.isend(copied, rank ^ 1), dist.irecv(received.view(-1), rank ^ 1)]
    for request in requests:
        request.wait()
    return received
