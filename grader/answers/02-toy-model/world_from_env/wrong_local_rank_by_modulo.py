# status: wrong
def world_from_env(env):
    for first, last in (
        ("RANK", "WORLD_SIZE"),
        ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
        ("SLURM_PROCID", "SLURM_NTASKS"),
    ):
        if first in env:
            for name in (first, last):
                if not env.get(name, "").isdecimal():
                    raise ValueError(f"{name} is missing or no integer")
            return int(env[first]), int(env[first]) % 4, int(env[last])
    return 0, 0, 1
