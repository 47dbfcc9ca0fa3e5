# hint: no plain number
def effective_batch(per_rank, size, accumulation):
    return torch.tensor(per_rank * size * accumulation)
