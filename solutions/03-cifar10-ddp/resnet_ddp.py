"""Train ResNet-18 on CIFAR-10, one process a GPU (or a share of the CPU cores each).

It uses what you wrote in cifar10_ddp.ipynb. Start it by any of

    torchrun --standalone --nproc-per-node=2 resnet_ddp.py --num-epochs 5
    python -m torch.distributed.launch --nproc-per-node=2 resnet_ddp.py --num-epochs 5
    srun --ntasks=2 python resnet_ddp.py --num-epochs 5        # inside a Slurm job
    sbatch resnet_ddp.sbatch
"""

import argparse
import time
from pathlib import Path

import torch
import torch.distributed as dist

from distlab import data, training
from distlab.notebook import load

WEIGHT_DECAY, MOMENTUM = 1e-4, 0.9


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    training.training_flags(parser)
    return parser.parse_args()


def images(args: argparse.Namespace) -> data.Split:
    test_limit = args.limit and max(args.limit // 5, 1)
    return data.load(
        args.data_dir, synthetic=args.synthetic, download=True,
        limit=args.limit, test_limit=test_limit,
    )  # fmt: skip


def same_statistics(model: torch.nn.Module) -> None:
    """Give every rank rank 0's buffers: BatchNorm's running statistics differ from rank to rank."""
    for buffer in model.buffers():
        dist.broadcast(buffer, src=0)


def run(args: argparse.Namespace, rank: int, size: int, device: torch.device) -> None:
    lab = load(Path(__file__).with_name("cifar10_ddp.ipynb"))
    split = images(args)
    lab.set_random_seeds(args.random_seed)
    model = lab.wrap(lab.make_model(len(split.classes)), device)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=args.learning_rate, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY
    )
    loader = lab.make_train_loader(split.train, rank, size, args.batch_size, args.random_seed)
    path, first = args.model_dir / args.model_filename, 0
    if rank == 0:
        args.model_dir.mkdir(parents=True, exist_ok=True)
        print(f"{size} ranks on {device.type}, {torch.get_num_threads()} threads each", flush=True)
        print(f"{split.source}: {len(split.train)} to train, {len(split.test)} to test", flush=True)
        rest = len(loader.sampler) % args.batch_size
        if 0 < rest < 8:
            print(f"the last batch has {rest} images a rank: too few for BatchNorm", flush=True)
    if args.resume:
        try:
            first = lab.load_checkpoint(path, model, optimizer, device)
        except FileNotFoundError:
            if rank == 0:
                print(f"there is no {path} yet: starting from the beginning", flush=True)
    for epoch in range(first, args.num_epochs):
        begin = time.perf_counter()
        bar = training.Bar(loader, rank, f"epoch {epoch + 1}")
        loss = lab.train_epoch(model, bar, optimizer, device, epoch)
        speed = len(split.train) / (time.perf_counter() - begin)
        same_statistics(model.module)
        accuracy = lab.evaluate(model, split.test, rank, size, args.batch_size, device)
        lab.save_checkpoint(path, model, optimizer, epoch)
        dist.barrier()  # nobody goes on, or ends, before the file is there
        if rank == 0:
            print(f"epoch {epoch + 1}/{args.num_epochs}  loss {loss:.4f}  accuracy {accuracy:.4f}  "
                  f"{speed:.0f} images/s", flush=True)  # fmt: skip


def main() -> None:
    args = arguments()
    with training.started() as here:
        try:
            run(args, here.rank, here.size, here.device)
        except data.NoData as error:
            raise SystemExit(f"resnet_ddp.py: {error}" if here.rank == 0 else 1) from None


if __name__ == "__main__":
    main()
