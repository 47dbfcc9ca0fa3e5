# hint: Python not seeded
def set_random_seeds(seed):
    torch.Generator().manual_seed(seed)
    np.random.default_rng(seed)
    random.Random(seed)
