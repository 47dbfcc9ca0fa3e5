def set_random_seeds(seed):
    torch.manual_seed(seed)  # seeds the GPUs too
    np.random.seed(seed)
    random.seed(seed)
