import re
from collections import namedtuple

World = namedtuple("World", "rank local_rank size")


class Launcher:
    def __init__(self, *names):
        self.names = names

    def world(self, env):
        wrong = [n for n in self.names if not re.fullmatch(r"\d+", env.get(n, ""))]
        if wrong:
            raise ValueError("missing or no integer: " + ", ".join(wrong))
        return World(*(int(env[n]) for n in self.names))


LAUNCHERS = [
    Launcher("RANK", "LOCAL_RANK", "WORLD_SIZE"),
    Launcher(*(f"OMPI_COMM_WORLD_{part}" for part in ("RANK", "LOCAL_RANK", "SIZE"))),
    Launcher("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS"),
]


def world_from_env(env):
    there = (launcher for launcher in LAUNCHERS if launcher.names[0] in env)
    launcher = next(there, None)
    return launcher.world(env) if launcher else World(0, 0, 1)
