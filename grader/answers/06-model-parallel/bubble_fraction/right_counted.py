def bubble_fraction(size, microbatches):
    forward = {(rank, rank + m) for rank in range(size) for m in range(min(microbatches, 200))}
    if microbatches > 200:
        return (size - 1.0) / (size - 1.0 + microbatches)
    end = max(slot for _, slot in forward) + 1
    return (size * end - len(forward)) / (size * end)
