def shard_flat(rank, size, tensors):
    def fill(out, at, rest):
        """at: place of rest[0]'s first element relative to this piece"""
        if not rest or at >= len(out):
            return out
        head = rest[0].ravel()
        lo, hi = max(at, 0), min(at + len(head), len(out))
        if lo < hi:
            out[lo:hi] = head[lo - at : hi - at]
        return fill(out, at + len(head), rest[1:])

    length = math.ceil(sum(map(torch.numel, tensors)) / size)
    return fill(tensors[0].new_zeros(length), -rank * length, tensors)
