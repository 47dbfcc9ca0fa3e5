# hint: a default for what is missing
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
        return tuple(number(f"OMPI_COMM_WORLD_{part}") for part in ("RANK", "LOCAL_RANK", "SIZE"))
    if "SLURM_PROCID" in env:
        rank, local_rank = number("SLURM_PROCID"), number("SLURM_LOCALID")
        size = env["SLURM_NTASKS"] if "SLURM_NTASKS" in env else number("SLURM_NTASKS")
        return rank, local_rank, int(size) if size.isdigit() else rank + 1
    return 0, 0, 1
