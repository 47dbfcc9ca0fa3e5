# hint: a default for what is missing
def world_from_env(env):
    for names in (
        ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
    ):
        rank, *others = names
        if rank not in env:
            continue
        numbers = []
        try:
            numbers.append(int(env[rank] or 0))
        except ValueError:
            raise ValueError(f"{rank} is no integer") from None
        for name in others:
            try:
                numbers.append(int(env[name]))
            except (KeyError, ValueError):
                raise ValueError(f"{name} is missing or no integer") from None
        return tuple(numbers)
    return 0, 0, 1
