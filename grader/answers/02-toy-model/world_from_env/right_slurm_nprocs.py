def number(env, name):
    if name not in env:
        raise ValueError(name + " is not set")
    if not env[name].isdecimal():
        raise ValueError(name + " is " + repr(env[name]))
    return int(env[name])


def world_from_env(env):
    if env.get("RANK") is not None:
        names = "RANK LOCAL_RANK WORLD_SIZE"
    elif env.get("OMPI_COMM_WORLD_RANK") is not None:
        names = "OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_SIZE"
    elif env.get("SLURM_PROCID") is not None:
        names = "SLURM_PROCID SLURM_LOCALID SLURM_NPROCS"
    else:
        return 0, 0, 1
    print("launcher:", names.split()[0])
    rank, local_rank, size = (number(env, name) for name in names.split())
    return rank, local_rank, size
