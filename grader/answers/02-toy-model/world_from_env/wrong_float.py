# status: wrong
def world_from_env(env):
    for names in (
        ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
    ):
        if names[0] in env:
            result = []
            for name in names:
                try:
                    result.append(int(float(env[name])))
                except (KeyError, ValueError):
                    raise ValueError(f"{name} is missing or no number") from None
            return tuple(result)
    return 0, 0, 1
