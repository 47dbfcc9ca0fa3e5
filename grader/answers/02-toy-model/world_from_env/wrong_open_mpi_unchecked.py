# hint: variable not named
def world_from_env(env):
    def number(name):
        if name not in env:
            raise ValueError(f"{name} is missing")
        try:
            return int(env[name])
        except ValueError:
            raise ValueError(f"{name} is no integer") from None

    if "RANK" in env:
        return number("RANK"), number("LOCAL_RANK"), number("WORLD_SIZE")
    if "OMPI_COMM_WORLD_RANK" in env:
        names = [f"OMPI_COMM_WORLD_{part}" for part in ("RANK", "LOCAL_RANK", "SIZE")]
        for name in names:
            if name not in env:
                raise ValueError(f"{name} is missing")
        return tuple(int(env[name]) for name in names)
    if "SLURM_PROCID" in env:
        return number("SLURM_PROCID"), number("SLURM_LOCALID"), number("SLURM_NTASKS")
    return 0, 0, 1
