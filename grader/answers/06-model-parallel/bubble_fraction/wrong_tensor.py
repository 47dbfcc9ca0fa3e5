# hint: no plain number
def bubble_fraction(size, microbatches):
    return torch.tensor((size - 1) / (microbatches + size - 1), dtype=torch.float64)
