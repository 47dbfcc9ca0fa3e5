from torch.cuda import manual_seed_all
def set_random_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)
    manual_seed_all(seed)
