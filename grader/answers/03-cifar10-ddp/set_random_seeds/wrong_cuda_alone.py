# hint: torch not seeded
def set_random_seeds(seed):
    torch.cuda.manual_seed_all(seed)
    np.random.seed(seed)
    random.seed(seed)
