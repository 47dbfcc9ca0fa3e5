import random as python_random

from numpy.random import seed as seed_numpy


def set_random_seeds(seed=0):
    print("seeding with", seed)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.manual_seed(seed)
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
    seed_numpy(seed)
    python_random.seed(seed)
    return seed
