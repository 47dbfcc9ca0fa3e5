"""Train ResNet-18 on CIFAR-10, one process a GPU (or a share of the CPU cores each).

It uses what you wrote in cifar10_ddp.ipynb. Start it by any of

    torchrun --standalone --nproc-per-node=2 resnet_ddp.py --num-epochs 5
    python -m torch.distributed.launch --nproc-per-node=2 resnet_ddp.py --num-epochs 5
    srun --ntasks=2 python resnet_ddp.py --num-epochs 5        # inside a Slurm job
    sbatch resnet_ddp.sbatch

Started like this it uses no speed-ups. The options of distlab.training.speedups make each step
faster, on a GPU for instance:

    torchrun --standalone --nproc-per-node=1 resnet_ddp.py --num-epochs 20 \\
        --augment --stem cifar --schedule triangle --weight-decay 5e-4 \\
        --on-device --channels-last --amp --fused --compile

The options of distlab.training.speedrun let it learn in fewer epochs. Here are those of the record,
which are also the quickest on a CPU (without --compile, and without --amp where that is slow):

    torchrun --standalone --nproc-per-node=1 resnet_ddp.py --num-epochs 8 --batch-size 2000 \\
        --model small --whiten --optimizer muon --schedule falling --label-smoothing 0.2 \\
        --augment --shift 2 --border reflect --flip alternating --test-flip \\
        --on-device --channels-last --amp --compile --warm-up 3
"""

import argparse
import time
from pathlib import Path

import torch
import torch.distributed as dist

from distlab import augment, data, speedrun, speedups, training
from distlab.notebook import load

MOMENTUM = 0.9
GOALS = 0.90, 0.93, 0.94  # test accuracies


def arguments(words: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    training.training_flags(parser)
    training.flag(parser, "--weight-decay", type=float, default=1e-4)
    training.flag(parser, "--augment", action="store_true", help="crop and mirror at random")
    training.flag(
        parser, "--schedule", choices=("constant", "triangle", "falling"), default="constant",
        help="the learning rate stays, rises for a fifth of the steps and then falls to zero, or "
             "falls from the first step on",
    )  # fmt: skip
    speedups.flags(parser)
    speedrun.flags(parser)
    return parser.parse_args(words)


def images(args: argparse.Namespace) -> data.Split:
    test_limit = args.limit and max(args.limit // 5, 1)
    return data.load(
        args.data_dir, synthetic=args.synthetic, download=True,
        limit=args.limit, test_limit=test_limit,
    )  # fmt: skip


def make_loader(lab, args: argparse.Namespace, train: data.Images, rank, size, device):
    """What an epoch reads: your loader, or batches in the same order that lie on the device."""
    alternate = args.flip == "alternating"
    plain = train
    if args.augment:
        seed = args.random_seed if alternate else None
        plain = augment.Augmented(train, args.shift, seed, args.border)
    loader = lab.make_train_loader(plain, rank, size, args.batch_size, args.random_seed)
    if args.augment:
        plain.sampler = loader.sampler
    if args.on_device:
        kept = augment.OnDevice(train, device, args.channels_last, args.border)
        seed = args.random_seed if args.augment else None
        return augment.Batches(loader, kept, seed, args.shift, alternate)
    return loader


def make_training(lab, args: argparse.Namespace, split: data.Split, rank, size, device):
    """The model inside DDP, its optimizer, and what an epoch is read from."""
    lab.set_random_seeds(args.random_seed)
    classes = len(split.classes)
    model = speedups.prepared(speedrun.make_model(args, classes, lab.make_model), args, device)
    if args.whiten:
        speedrun.whiten(model, split.train)
    model = speedups.distributed(lab.wrap(model, device), args)
    optimizer = speedrun.make_optimizer(model, args, MOMENTUM, args.batch_size * size)
    for group in optimizer.param_groups:
        group["peak"] = group["lr"]
    loader = make_loader(lab, args, split.train, rank, size, device)
    if args.label_smoothing:
        loader = speedrun.Smoothed(loader, args.label_smoothing, classes)
    return model, optimizer, loader


def follow_schedule(args: argparse.Namespace, optimizer, first: int, steps: int) -> None:
    """Set the learning rate before each step, from epoch `first` on, with `steps` in an epoch."""
    step, last = first * steps, args.num_epochs * steps
    schedule = training.triangle if args.schedule == "triangle" else training.falling

    def set_rate(*_) -> None:
        nonlocal step
        for group in optimizer.param_groups:
            until = group.get("until", 1.0) * last
            peak = group.get("peak", args.learning_rate)
            group["lr"] = schedule(step, until, peak) if step < until else 0.0
        step += 1

    optimizer.register_step_pre_hook(set_rate)


def same_statistics(model: torch.nn.Module) -> None:
    """Give every rank rank 0's buffers: BatchNorm's running statistics differ from rank to rank."""
    for buffer in model.buffers():
        dist.broadcast(buffer, src=0)


def resume(lab, args: argparse.Namespace, path: Path, model, optimizer, device) -> int:
    """The epoch to go on with; 0 where there is no checkpoint yet."""
    try:
        speedrun.check_checkpoint(path, args.model)
        speedups.check_stem(path, args.stem)
        first = lab.load_checkpoint(path, model, optimizer, device)
    except FileNotFoundError:
        if dist.get_rank() == 0:
            print(f"there is no {path} yet: starting from the beginning", flush=True)
        return 0
    for group in optimizer.param_groups if args.optimizer == "sgd" else ():
        group["fused"] = args.fused or None  # the checkpoint has brought its own
    return first


def announce(args: argparse.Namespace, split: data.Split, size: int, device, share: int) -> None:
    """Say what is about to be trained by whom; `share`: images of one rank."""
    args.model_dir.mkdir(parents=True, exist_ok=True)
    print(f"{size} ranks on {device.type} by {dist.get_backend()}, {torch.get_num_threads()} "
          f"threads each", flush=True)  # fmt: skip
    print(f"{split.source}: {len(split.train)} to train, {len(split.test)} to test", flush=True)
    if 0 < share % args.batch_size < 8:
        rest = share % args.batch_size
        print(f"the last batch has {rest} images a rank: too few for BatchNorm", flush=True)
    if args.amp and not speedups.native_bfloat16(device):
        print("this CPU has no instructions for bfloat16: --amp will be far slower", flush=True)


def run(args: argparse.Namespace, rank: int, size: int, device: torch.device) -> None:
    torch.set_num_threads(training.threads(size, args.threads))
    speedups.check(args, device)
    speedrun.check(args)
    lab = load(Path(__file__).with_name("cifar10_ddp.ipynb"))
    split = images(args)
    model, optimizer, loader = make_training(lab, args, split, rank, size, device)
    test = split.test
    if args.on_device:
        test = augment.OnDevice(test, device, args.channels_last)
    if rank == 0:
        announce(args, split, size, device, len(loader.sampler))
    path, first = args.model_dir / args.model_filename, 0
    if args.resume:
        first = resume(lab, args, path, model, optimizer, device)
    if args.warm_up:

        def train(few) -> None:
            lab.train_epoch(model, few, optimizer, device, first)

        speedrun.warm_up(train, model, optimizer, loader, args.warm_up)
    if args.schedule != "constant":
        follow_schedule(args, optimizer, first, len(loader))
    goals = training.Goals(GOALS, first)
    for epoch in range(first, args.num_epochs):
        lab.set_random_seeds(training.epoch_seed(args.random_seed, epoch, rank))
        begin = time.perf_counter()
        bar = training.Bar(loader, rank, f"epoch {epoch + 1}")
        loss = lab.train_epoch(model, bar, optimizer, device, epoch)
        seconds = time.perf_counter() - begin
        same_statistics(model.module)
        guesses = speedrun.Both(model.module) if args.test_flip else model
        accuracy = lab.evaluate(guesses, test, rank, size, args.batch_size, device)
        lab.save_checkpoint(path, model, optimizer, epoch)
        dist.barrier()  # nobody goes on, or ends, before the file is there
        if rank == 0:
            print(f"epoch {epoch + 1}/{args.num_epochs}  loss {loss:.4f}  accuracy {accuracy:.4f}  "
                  f"{len(split.train) / seconds:.0f} images/s", flush=True)  # fmt: skip
            print(*goals.after(seconds, accuracy), sep="", end="", flush=True)
    if rank == 0 and first < args.num_epochs:
        print(*goals.missed(), sep="", end="", flush=True)


def main() -> None:
    args = arguments()
    with training.started() as here:
        try:
            run(args, here.rank, here.size, here.device)
        except (data.NoData, training.Refused) as error:
            raise SystemExit(f"resnet_ddp.py: {error}" if here.rank == 0 else 1) from None


if __name__ == "__main__":
    main()
