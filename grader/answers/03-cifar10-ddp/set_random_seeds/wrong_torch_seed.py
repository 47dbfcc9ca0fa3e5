# hint: torch not seeded
def set_random_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.seed()
