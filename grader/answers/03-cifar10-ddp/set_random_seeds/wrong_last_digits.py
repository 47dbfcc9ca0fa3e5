# hint: seed ignored
import random

import numpy as np


def set_random_seeds(seed):
    seed = seed % 1000
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
