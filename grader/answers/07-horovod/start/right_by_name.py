import random

import numpy as np
from horovod.torch import init, local_rank, rank, size


def start(seed, use_cuda):
    torch.set_num_threads(1)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    init()
    if use_cuda and torch.cuda.is_available():
        torch.cuda.set_device(torch.device("cuda", local_rank()))
    return rank(), size(), local_rank()
