# hint: NumPy not seeded
def set_random_seeds(seed):
    random.seed(seed)
    np.random.default_rng(seed)
    torch.manual_seed(seed)
