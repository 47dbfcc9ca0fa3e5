# hint: NumPy not seeded
def set_random_seeds(seed):
    random.seed(seed)
    torch.manual_seed(seed)
