"""The toy program on processes that it starts itself.

    python mp.py --ranks 2

What runs on the ranks was written in the notebook beside this file. See mp.sbatch for Slurm.
"""

import argparse
import functools
import os
import signal
from pathlib import Path

from distlab.notebook import load

lab = load(Path(__file__).with_name("toy_model.ipynb"))


def demo(rank: int, world_size: int, port: int, patience: int) -> None:
    signal.alarm(patience)
    print(
        f"process {os.getpid()}, child of {os.getppid()}: rank {rank} of {world_size}; "
        f"RANK in its environment: {os.environ.get('RANK', 'not there')}",
        flush=True,
    )
    lab.setup(rank, world_size, port)
    lab.toy_program(rank, world_size)
    lab.cleanup()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ranks = lab.torch.cuda.device_count() or 2
    parser.add_argument("--ranks", type=int, default=ranks, help="processes (default: %(default)s)")
    parser.add_argument("--patience", type=int, default=300, help="seconds until it gives up")
    options = parser.parse_args()
    demo_fn = functools.partial(demo, port=lab.free_port(), patience=options.patience)
    lab.run_demo(demo_fn, options.ranks)


if __name__ == "__main__":
    main()
