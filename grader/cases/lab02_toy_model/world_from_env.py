"""Hidden cases of `world_from_env`."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn

_SLURM = {
    "SLURM_PROCID": "3", "SLURM_LOCALID": "1", "SLURM_NTASKS": "4", "SLURM_NPROCS": "4",
    "SLURM_STEP_NUM_TASKS": "4", "SLURM_NNODES": "2",
}  # fmt: skip


_SIZES = ("SLURM_NTASKS", "SLURM_NPROCS", "SLURM_STEP_NUM_TASKS")


_OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "10", "OMPI_COMM_WORLD_LOCAL_RANK": "2", "OMPI_COMM_WORLD_SIZE": "16",
}  # fmt: skip


_TORCHRUN = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}


def _numbered(chance, rank, local_rank, *sizes):
    """These variables of some process in a world of some size."""
    size = chance.whole(40, 4000)
    own = {rank: str(chance.whole(8, size - 1)), local_rank: str(chance.whole(1, 7))}
    return own | dict.fromkeys(sizes, str(size))


def _without(environment, *names):
    return {name: text for name, text in environment.items() if name not in names}


HIDDEN = (
    Drawn(
        1,
        103,
        lambda chance: {
            "environments": {
                "torchrun": _numbered(chance, "RANK", "LOCAL_RANK", "WORLD_SIZE"),
                "Open MPI": _numbered(
                    chance,
                    "OMPI_COMM_WORLD_RANK",
                    "OMPI_COMM_WORLD_LOCAL_RANK",
                    "OMPI_COMM_WORLD_SIZE",
                ),
                "Slurm": _numbered(
                    chance,
                    "SLURM_PROCID",
                    "SLURM_LOCALID",
                    "SLURM_NTASKS",
                    "SLURM_NPROCS",
                    "SLURM_STEP_NUM_TASKS",
                ),
            }
        },
    ),
    Case(
        1,
        101,
        {
            "environments": {
                "one process under torchrun": _TORCHRUN,
                "torchrun inside Open MPI": _OPEN_MPI | _TORCHRUN,
                "Open MPI inside Slurm": _SLURM | _OPEN_MPI,
                "all inside Slurm": _SLURM | _OPEN_MPI | _TORCHRUN,
                "a size without a rank": {"WORLD_SIZE": "4", "LOCAL_RANK": "2"},
                "a size without a rank inside Slurm": {"WORLD_SIZE": "9", "LOCAL_RANK": "7"}
                | _SLURM,
                "many": {"RANK": "1234", "LOCAL_RANK": "7", "WORLD_SIZE": "4096"},
            }
        },
    ),
    Case(
        1,
        102,
        {
            "environments": {
                "Open MPI without a size": _without(_OPEN_MPI, "OMPI_COMM_WORLD_SIZE"),
                "Open MPI without a local rank": _without(_OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_RANK"),
                "Slurm without a size": _without(_SLURM, *_SIZES),
                "Slurm without a local rank": _without(_SLURM, "SLURM_LOCALID"),
                "a broken rank": _TORCHRUN | {"RANK": "0x3"},
                "a broken size": _TORCHRUN | {"WORLD_SIZE": "2.0"},
                "an empty local rank": _TORCHRUN | {"LOCAL_RANK": ""},
                "an empty rank": {"RANK": "", "LOCAL_RANK": "3", "WORLD_SIZE": "8"},
                "a broken rank of Slurm": _SLURM | {"SLURM_PROCID": "1e3"},
                "a broken local rank of Slurm": _SLURM | {"SLURM_LOCALID": "none"},
                "a broken size of Slurm": _SLURM | dict.fromkeys(_SIZES, "2(x2)"),
                "a broken rank of Open MPI": _OPEN_MPI | {"OMPI_COMM_WORLD_RANK": "?"},
                "a broken local rank of Open MPI": _OPEN_MPI | {"OMPI_COMM_WORLD_LOCAL_RANK": ""},
                "a broken size of Open MPI": _OPEN_MPI | {"OMPI_COMM_WORLD_SIZE": "1e1"},
                "half of torchrun, all of Slurm": _SLURM | {"RANK": "1", "WORLD_SIZE": "2"},
            },
            "bad": {
                "Open MPI without a size": ["OMPI_COMM_WORLD_SIZE"],
                "Open MPI without a local rank": ["OMPI_COMM_WORLD_LOCAL_RANK"],
                "Slurm without a size": list(_SIZES),
                "Slurm without a local rank": ["SLURM_LOCALID"],
                "a broken rank": ["RANK"],
                "a broken size": ["WORLD_SIZE"],
                "an empty local rank": ["LOCAL_RANK"],
                "an empty rank": ["RANK"],
                "a broken rank of Slurm": ["SLURM_PROCID"],
                "a broken local rank of Slurm": ["SLURM_LOCALID"],
                "a broken size of Slurm": list(_SIZES),
                "a broken rank of Open MPI": ["OMPI_COMM_WORLD_RANK"],
                "a broken local rank of Open MPI": ["OMPI_COMM_WORLD_LOCAL_RANK"],
                "a broken size of Open MPI": ["OMPI_COMM_WORLD_SIZE"],
                "half of torchrun, all of Slurm": ["LOCAL_RANK"],
            },
            "or": {"an empty rank": [0, 0, 1]},  # set and empty may count as not set
        },
    ),
)
