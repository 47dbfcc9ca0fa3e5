set_random_seeds = lambda seed: [f(seed) for f in (torch.manual_seed, np.random.seed, random.seed)]  # noqa: E731
