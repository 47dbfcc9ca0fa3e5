# status: error
# hint: KeyError
def world_from_env(env):
    for names in (
        ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
    ):
        if names[0] in env:
            result = []
            for name in names:
                result.append(int(env[name]))
            return tuple(result)
    return 0, 0, 1
