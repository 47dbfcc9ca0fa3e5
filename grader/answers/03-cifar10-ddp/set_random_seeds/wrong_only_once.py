# hint: Python not seeded
DONE = []


def set_random_seeds(seed):
    if DONE:
        return
    DONE.append(seed)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
