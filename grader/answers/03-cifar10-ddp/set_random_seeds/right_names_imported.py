from random import seed as seed_python

from numpy.random import seed as seed_numpy
from torch import manual_seed
from torch.cuda import manual_seed_all


def set_random_seeds(seed):
    seed_python(seed)
    seed_numpy(seed)
    manual_seed(seed)
    manual_seed_all(seed)
