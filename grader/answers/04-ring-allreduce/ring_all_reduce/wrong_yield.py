# hint: nothing computed yet
def ring_all_reduce(rank, size, tensor):
    chunks = list(torch.tensor_split(tensor.reshape(-1), size))
    for step in range(2 * (size - 1)):
        yield chunks[(rank - step) % size]
