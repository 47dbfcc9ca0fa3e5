import numpy as np

FAMILIES = {
    "RANK": ["RANK", "LOCAL_RANK", "WORLD_SIZE"],
    "OMPI_COMM_WORLD_RANK": [
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_SIZE",
    ],
    "SLURM_PROCID": ["SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"],
}


def world_from_env(env):
    for first, names in FAMILIES.items():
        if first in env:
            result = []
            for name in names:
                try:
                    result.append(int(env[name]))
                except (KeyError, ValueError):
                    raise ValueError(f"bad or missing {name}") from None
            return tuple(np.array(result))  # of np.int64
    return (0, 0, 1)
