# status: wrong
def bubble_fraction(size, microbatches):
    return torch.tensor((size - 1) / (microbatches + size - 1))
