# status: error
# says: ValueError
def set_random_seeds(seed):
    random.seed(seed)
    np.random.seed(seed + 1)  # 2**32 - 1 is a seed too
    torch.manual_seed(seed)
    torch.cuda.manual_seed_all(seed)
