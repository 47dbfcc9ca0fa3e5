# status: error
def world_from_env(env):
    for names in (
        ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
    ):
        if names[0] in env:
            result = []
            for name in names:
                if not env.get(name, "").isdecimal():
                    raise SystemExit(f"{name} is missing or no integer")
                result.append(int(env[name]))
            return tuple(result)
    return 0, 0, 1
