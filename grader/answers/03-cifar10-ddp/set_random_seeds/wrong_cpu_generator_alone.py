# hint: CUDA not seeded
def set_random_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)
