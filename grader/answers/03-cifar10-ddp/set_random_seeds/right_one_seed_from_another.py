def set_random_seeds(seed):
    random.seed(seed)
    np.random.seed(random.randrange(2**32))
    torch.manual_seed(random.getrandbits(63))
