from torch.nn.utils import parameters_to_vector


def shard_flat(rank, size, tensors):
    vector = parameters_to_vector(tensors)
    k = (vector.numel() + size - 1) // size
    padded = vector.new_zeros(k * size)
    padded[: vector.numel()].copy_(vector)
    return padded.narrow(0, rank * k, k).clone()
