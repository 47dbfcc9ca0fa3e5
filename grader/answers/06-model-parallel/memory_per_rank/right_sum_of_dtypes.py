import math

import torch


def memory_per_rank(parameters, size, stage):
    half, single = torch.finfo(torch.float16).bits / 8, torch.finfo(torch.float32).bits / 8
    parts = [3 * single, half, half]
    return math.fsum(b * parameters / (size if i < stage else 1) for i, b in enumerate(parts))
