def set_random_seeds(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.default_generator.manual_seed(seed)
    for index in range(torch.cuda.device_count()):
        with torch.cuda.device(index):
            torch.cuda.manual_seed(seed)
