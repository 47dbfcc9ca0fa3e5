"""Hidden cases of lab 02."""

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


HIDDEN = {
    "setup": (
        Case(1, 101, {"gpus": 1}),
        Case(1, 102, {"gpus": 0}),
        Case(4, 103, {"gpus": 3}),
        Case(4, 104, {"gpus": 8}),
        Case(5, 105, {"gpus": 1}),
        Case(2, 106, {"gpus": 1}),
        Case(3, 107, {"gpus": 3}),
    ),
    "average_gradients": (
        Case(1, 101),
        Case(3, 102, {"unused": True}),
        Case(3, 103, {"unused": True}),
        Case(5, 104, {"sizes": [4, 1], "rows": 1}),
        Case(2, 105, {"dtype": "float64"}),
        Case(4, 106, {"frozen": True, "unused": True, "sizes": [6, 4, 4, 2]}),
        Case(2, 107, {"sizes": [100, 60]}),
        Case(3, 108, {"zero": [1]}),  # a gradient of zeros takes part as any other
        Case(4, 109, {"zero": [0, 3], "unused": True}),
        Case(2, 110, {"sizes": [32 * 4096, 9], "rows": 1}),  # 4.7 MB in one gradient
    ),
    "demo_basic": (
        Case(1, 101),
        Case(3, 102),
        Case(3, 103),
        Case(5, 104, {"rows": 1}),
        Case(2, 105, {"rows": 64}),
    ),
    "train": (
        Case(1, 101),
        Case(2, 102, {"rows": [3, 1, 6, 2], "lr": 0.2}),
        Case(2, 103, {"rows": [3, 1, 6, 2], "lr": 0.2}),
        Case(4, 104, {"rows": [5]}),
        Case(5, 105, {"rows": [2, 2], "lr": 0.01}),
        Case(3, 106, {"rows": []}),  # no batch: rank 0's weights all the same
        Case(2, 107, {"rows": [3] * 12, "lr": 0.05}),
    ),
    "demo_checkpoint": (
        Case(1, 101),
        Case(2, 102, {"older_file": True}),
        Case(4, 103),
        Case(5, 104, {"older_file": True}),
    ),
    "run_demo": (Case(1, 101, {"world_size": 3, "fails": 2, "script": True}),),
    "world_from_env": (
        Drawn(1, 103, lambda chance: {"environments": {
            "torchrun": _numbered(chance, "RANK", "LOCAL_RANK", "WORLD_SIZE"),
            "Open MPI": _numbered(
                chance, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_LOCAL_RANK",
                "OMPI_COMM_WORLD_SIZE",
            ),
            "Slurm": _numbered(
                chance, "SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS", "SLURM_NPROCS",
                "SLURM_STEP_NUM_TASKS",
            ),
        }}),
        Case(1, 101, {"environments": {
            "one process under torchrun": _TORCHRUN,
            "torchrun inside Open MPI": _OPEN_MPI | _TORCHRUN,
            "Open MPI inside Slurm": _SLURM | _OPEN_MPI,
            "all inside Slurm": _SLURM | _OPEN_MPI | _TORCHRUN,
            "a size without a rank": {"WORLD_SIZE": "4", "LOCAL_RANK": "2"},
            "a size without a rank inside Slurm": {"WORLD_SIZE": "9", "LOCAL_RANK": "7"} | _SLURM,
            "many": {"RANK": "1234", "LOCAL_RANK": "7", "WORLD_SIZE": "4096"},
        }}),
        Case(1, 102, {
            "environments": {
                "Open MPI without a size": _without(_OPEN_MPI, "OMPI_COMM_WORLD_SIZE"),
                "Open MPI without a local rank": _without(_OPEN_MPI, "OMPI_COMM_WORLD_LOCAL_RANK"),
                "Slurm without a size": _without(_SLURM, *_SIZES),
                "Slurm without a local rank": _without(_SLURM, "SLURM_LOCALID"),
                "a broken rank": _TORCHRUN | {"RANK": "0x3"},
                "a broken size": _TORCHRUN | {"WORLD_SIZE": "2.0"},
                "an empty local rank": _TORCHRUN | {"LOCAL_RANK": ""},
                "a broken rank of Slurm": _SLURM | {"SLURM_PROCID": "1e3"},
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
                "a broken rank of Slurm": ["SLURM_PROCID"],
                "half of torchrun, all of Slurm": ["LOCAL_RANK"],
            },
        }),
    ),
    "what_is_wrong": (Case(1, 101, {"judged": True}),),
}  # fmt: skip
