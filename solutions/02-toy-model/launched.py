"""The toy program on processes that a launcher has started, one for each rank.

    torchrun --standalone --nproc-per-node=2 launched.py
    python -m torch.distributed.launch --nproc-per-node=2 launched.py
    srun --ntasks=2 python launched.py

What runs on the ranks was written in the notebook beside this file. See launched.sbatch for Slurm.
"""

import argparse
import os
from pathlib import Path

from distlab.notebook import load

lab = load(Path(__file__).with_name("toy_model.ipynb"))


def meeting_point(world_size: int) -> None:
    """MASTER_ADDR and MASTER_PORT, where the launcher has not set them.

    srun and mpirun don't. On one machine the job's number gives all ranks the same port; for more
    machines launched.sbatch sets the address.
    """
    os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
    if "MASTER_PORT" not in os.environ:
        job = os.environ.get("SLURM_JOB_ID")
        if job is None and world_size > 1:
            raise SystemExit("set MASTER_PORT to a free port, the same for all ranks")
        os.environ["MASTER_PORT"] = str(10000 + int(job) % 20000 if job else lab.free_port())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    # torch.distributed.launch hands the local rank over as an argument; older versions of it spell
    # it with an underscore, and torchrun sets LOCAL_RANK alone
    parser.add_argument("--local-rank", "--local_rank", type=int)
    argument = parser.parse_args().local_rank

    rank, local_rank, world_size = lab.world_from_env(os.environ)
    told = "was not given" if argument is None else f"is {argument}"
    print(
        f"rank {rank} of {world_size}: --local-rank {told}, the environment says {local_rank}",
        flush=True,
    )
    meeting_point(world_size)
    gpus = lab.torch.cuda.device_count()
    if gpus:
        lab.torch.cuda.set_device(local_rank % gpus)
    per_machine = int(os.environ.get("LOCAL_WORLD_SIZE") or os.environ.get("SLURM_NTASKS_PER_NODE")
                      or world_size)  # fmt: skip
    lab.dist.init_process_group(
        "nccl" if 0 < per_machine <= gpus else "gloo", rank=rank, world_size=world_size
    )
    lab.toy_program(rank, world_size)
    lab.cleanup()


if __name__ == "__main__":
    main()
