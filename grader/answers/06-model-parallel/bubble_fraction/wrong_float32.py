# hint: single precision
def bubble_fraction(size, microbatches):
    return (torch.tensor(size - 1.0) / (microbatches + size - 1)).item()
