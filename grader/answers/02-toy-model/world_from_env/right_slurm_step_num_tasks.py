FAMILIES = (
    ("RANK", "LOCAL_RANK", "WORLD_SIZE"),
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_STEP_NUM_TASKS"),
)
def world_from_env(env):
    for family in FAMILIES:
        if family[0] not in env:
            continue
        numbers = []
        for name in family:
            if not env.get(name, "").isdecimal():
                raise ValueError(f"{name} is {env.get(name)!r}, not a decimal integer")
            numbers.append(int(env[name]))
        return tuple(numbers)
    return 0, 0, 1
