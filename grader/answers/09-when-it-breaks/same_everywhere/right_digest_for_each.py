import numpy as np


def same_everywhere(rank, size, tensors):
    def digest(t):
        t = t.detach().contiguous()
        h = hashlib.sha256(repr((t.dtype, tuple(t.shape))).encode())
        h.update(bytes(t.reshape(-1).view(torch.uint8).tolist()) if t.numel() < 100
                 else t.reshape(-1).view(torch.uint8).numpy().tobytes())
        return h.digest()

    mine = [digest(t) for t in tensors]
    everybody = [None] * size
    dist.all_gather_object(everybody, mine)
    return np.all([other == mine for other in everybody])  # an np.bool_
