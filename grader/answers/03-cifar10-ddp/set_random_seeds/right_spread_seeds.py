import os


def set_random_seeds(seed):
    os.environ["PYTHONHASHSEED"] = str(seed)
    random.seed(str(seed))
    np.random.seed((seed * 7 + 1) % 2**32)
    torch.manual_seed(seed)
