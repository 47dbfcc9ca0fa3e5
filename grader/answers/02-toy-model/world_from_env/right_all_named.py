def world_from_env(env):
    families = [
        ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
    ]
    family = next((f for f in families if f[0] in env), None)
    if family is None:
        return [0, 0, 1]
    try:
        return [int(env[name]) for name in family]
    except Exception as error:
        raise ValueError(f"{', '.join(family)} all have to be integers: {error}") from error
