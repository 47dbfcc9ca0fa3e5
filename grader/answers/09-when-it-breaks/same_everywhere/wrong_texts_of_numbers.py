# hint: values for bits
# says: one NaN prints like another
import hashlib


def same_everywhere(rank, size, tensors):
    text = repr([(t.dtype, t.shape, t.tolist()) for t in tensors])  # "nan", whatever its bits
    digests = [None] * size
    dist.all_gather_object(digests, hashlib.sha256(text.encode()).hexdigest())
    return len(set(digests)) == 1
