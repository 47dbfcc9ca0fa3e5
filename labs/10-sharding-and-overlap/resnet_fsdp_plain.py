"""Train ResNet-18 on CIFAR-10 with every parameter divided among the ranks.

Start it with torchrun, one process a GPU or a share of the CPU:

    torchrun --standalone --nproc-per-node=2 resnet_fsdp_plain.py
    torchrun --standalone --nproc-per-node=2 resnet_fsdp_plain.py \\
        --synthetic --epochs 2 --batch-size 32
"""

import argparse
import os
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_model_state_dict
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from torchvision import datasets, models, transforms
from torchvision.models.resnet import BasicBlock


def images(args, rank):
    """The training and the test set; with --synthetic ten patterns under noise, soon learnt."""
    if args.synthetic:
        torch.manual_seed(0)  # the same images on every rank
        patterns, labels = torch.randn(10, 3, 32, 32), torch.arange(1280) % 10
        made = TensorDataset(patterns[labels] + torch.randn(1280, 3, 32, 32), labels)
        return TensorDataset(*made[:1024]), TensorDataset(*made[1024:])
    if rank == 0:  # one downloads, the others wait
        datasets.CIFAR10(args.data_dir, download=True)
    dist.barrier()
    scale = transforms.Normalize((0.5, 0.5, 0.5), (0.25, 0.25, 0.25))
    scaled = transforms.Compose([transforms.ToTensor(), scale])
    return [datasets.CIFAR10(args.data_dir, train=t, transform=scaled) for t in (True, False)]


def train_epoch(model, loader, optimizer, device):
    model.train()
    for inputs, labels in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(inputs.to(device)), labels.to(device))
        loss.backward()  # gradients are averaged meanwhile
        optimizer.step()
    return loss.item()


@torch.no_grad()
def evaluate(model, dataset, args, rank, size, device):
    """The share of the whole test set that is classified rightly."""
    model.eval()
    # it fills the ranks up to equally many images: those that come a second time do not count
    sampler = DistributedSampler(dataset, size, rank, shuffle=False)
    batches = DataLoader(dataset, args.batch_size, sampler=sampler)
    right = torch.cat([model(x.to(device)).argmax(1) == y.to(device) for x, y in batches])
    right = right[: len(range(rank, len(dataset), size))].sum()
    dist.all_reduce(right)
    return right.item() / len(dataset)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=128, help="of one rank")
    parser.add_argument("--learning-rate", type=float, default=0.01)
    parser.add_argument("--data-dir", default="data")
    parser.add_argument("--synthetic", action="store_true", help="generated images, no download")
    parser.add_argument("--save", help="where the trained weights go")
    args = parser.parse_args()

    cuda = torch.cuda.is_available()
    dist.init_process_group("nccl" if cuda else "gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(device)
    train, test = images(args, rank)

    torch.manual_seed(0)
    model = models.resnet18(num_classes=10).to(device)
    mesh = init_device_mesh(device.type, (size,))
    for block in [m for m in model.modules() if isinstance(m, BasicBlock)] + [model]:
        fully_shard(block, mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.learning_rate, momentum=0.9)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, args.batch_size, sampler=sampler)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        begin = time.perf_counter()
        loss = train_epoch(model, loader, optimizer, device)
        seconds = time.perf_counter() - begin
        for buffer in model.buffers():  # BatchNorm's statistics are no parameters: nobody divides,
            dist.broadcast(buffer, src=0)  # nobody averages them
        accuracy = evaluate(model, test, args, rank, size, device)
        if rank == 0:
            print(f"epoch {epoch + 1}/{args.epochs}  loss {loss:.4f}  accuracy {accuracy:.4f}  "
                  f"{len(train) / seconds:.0f} images/s", flush=True)  # fmt: skip
    if args.save:
        whole = StateDictOptions(full_state_dict=True, cpu_offload=True)
        state = get_model_state_dict(model, options=whole)
        if rank == 0:
            torch.save(state, args.save)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
