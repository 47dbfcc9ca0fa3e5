FAMILIES = (
    ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
)


def number(env, name):
    try:
        return int(env.get(name, ""))
    except ValueError:
        raise ValueError(f"{name} should be a number, not {env.get(name)!r}") from None


def world_from_env(env):
    """A rank variable that is set and empty counts as none: the contract leaves that open."""
    for names in FAMILIES:
        if env.get(names[0]):
            return tuple(number(env, name) for name in names)
    return 0, 0, 1
