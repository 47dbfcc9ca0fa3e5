"""Measure how a training scales: one line of JSON a run, and a table of them.

Its table uses the `speedup_and_efficiency` that you wrote in scaling_up.ipynb. Each run measures
the number of ranks that it is started with; start it once for each size, then ask for the table:

    for n in 1 2 4; do
        torchrun --standalone --nproc-per-node=$n scaling.py --mode strong --json scaling.json
    done
    python scaling.py --table scaling.json

    python -m torch.distributed.launch --nproc-per-node=2 scaling.py --mode weak
    srun --ntasks=2 python scaling.py --mode weak              # inside a Slurm job
    sbatch scaling.sbatch
"""

import argparse
import json
import statistics
from pathlib import Path

import torch

from distlab import scaling, training
from distlab.notebook import load


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--mode", choices=("strong", "weak"), default="strong",
        help="strong: the batch is divided among the ranks; weak: it is that of each rank",
    )  # fmt: skip
    training.flag(parser, "--batch-size", type=int, default=64, help="images per step")
    parser.add_argument("--width", type=int, default=24, help="of the network")
    parser.add_argument("--steps", type=int, default=10, help="in each measurement")
    parser.add_argument("--repeats", type=int, default=5, help="measurements")
    parser.add_argument("--threads", type=int, default=1, help="CPU threads of each rank")
    parser.add_argument("--json", type=Path, metavar="FILE", help="add the result to this file")
    parser.add_argument("--table", type=Path, metavar="FILE", help="print what a file holds")
    # torch.distributed.launch hands this to the script; the environment says the same
    parser.add_argument("--local_rank", "--local-rank", type=int, help=argparse.SUPPRESS)
    return parser.parse_args()


def measure(args: argparse.Namespace) -> None:
    with training.started() as here:
        torch.set_num_threads(args.threads)
        per_rank, rest = args.batch_size, 0
        if args.mode == "strong":
            per_rank, rest = divmod(args.batch_size, here.size)
        if rest or not per_rank:
            told = (
                f"scaling.py: {args.batch_size} images cannot be divided evenly among {here.size} "
                "ranks: choose another --batch-size"
            )
            raise SystemExit(told if here.rank == 0 else 1)
        rates = scaling.measure_throughput(
            here.rank, here.size, per_rank, args.width, args.steps, args.repeats
        )
        if here.rank:
            return
        result = {
            "mode": args.mode, "ranks": here.size, "device": here.device.type,
            "images per rank": per_rank, "width": args.width, "images/s": rates,
        }  # fmt: skip
        print(f"{here.size} ranks on {here.device.type}, {per_rank} images each: "
              f"{statistics.mean(rates):.0f} images/s", flush=True)  # fmt: skip
        if args.json:
            with args.json.open("a") as file:
                file.write(json.dumps(result) + "\n")


def measured(path: Path) -> dict[str, dict[int, list[float]]]:
    """{mode: {ranks: images/s of each measurement}} of all runs in a file; of several runs of the
    same size, the last one.
    """
    found: dict[str, dict[int, list[float]]] = {}
    try:
        for run in map(json.loads, path.read_text().splitlines()):
            statistics.mean(run["images/s"])  # has it any?
            found.setdefault(run["mode"], {})[run["ranks"]] = run["images/s"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SystemExit(f"scaling.py: {path} holds no measurements: {error}") from None
    return found


def table(path: Path) -> None:
    """Print speed-up and efficiency of all runs in a file."""
    runs, lab = measured(path), load(Path(__file__).with_name("scaling_up.ipynb"))
    for mode, rates in runs.items():
        means = {size: statistics.mean(rates[size]) for size in sorted(rates)}
        print(f"{mode} scaling, against {min(means)} rank(s)")
        for size, (speedup, efficiency) in lab.speedup_and_efficiency(means).items():
            spread = statistics.pstdev(rates[size])
            print(f"  {size:4} ranks  {means[size]:9.0f} ± {spread:.0f} images/s  "
                  f"speed-up {speedup:.2f}  efficiency {efficiency:.2f}")  # fmt: skip


def main() -> None:
    args = arguments()
    if args.table is None:
        measure(args)
        return
    try:
        table(args.table)
    except NotImplementedError as todo:
        raise SystemExit(f"scaling.py: {todo}: write it in the notebook, and save that") from None


if __name__ == "__main__":
    main()
