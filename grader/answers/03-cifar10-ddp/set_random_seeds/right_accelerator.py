def set_random_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)
    if torch.accelerator.is_available() and torch.cuda.device_count():
        torch.cuda.manual_seed_all(seed)
