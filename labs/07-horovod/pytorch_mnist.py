"""Digits with Horovod, by the functions of your notebook.

    horovodrun -np 2 --gloo python pytorch_mnist.py --epochs 2 --no-cuda
    mpirun -np 2 python pytorch_mnist.py --use-adasum --no-cuda

It trains on MNIST, or where that is not here and cannot be fetched, on scikit-learn's digits.
"""

import argparse
from pathlib import Path

import horovod.torch as hvd
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader

from distlab import digits
from distlab.notebook import load

# under a name of its own: a module called horovod is there already
lab = load(Path(__file__).with_name("horovod.ipynb"), name="horovod_lab")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--batch-size", type=int, default=64, help="of each worker")
    parser.add_argument("--test-batch-size", type=int, default=1000, help="of each worker")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--lr", type=float, default=0.01, help="for one worker")
    parser.add_argument("--momentum", type=float, default=0.5)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument(
        "--log-interval", type=int, default=10, help="batches between two reports, 0 for none"
    )
    parser.add_argument("--no-cuda", action="store_true", help="train on CPUs")
    parser.add_argument("--fp16-allreduce", action="store_true", help="send gradients in 16 bits")
    parser.add_argument("--use-adasum", action="store_true", help="combine gradients by Adasum")
    parser.add_argument("--data-dir", help="where MNIST lies or is put")
    return parser.parse_args()


class Net(nn.Module):
    """Two convolutions and two linear layers; log-probabilities of ten digits."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 10, kernel_size=5)
        self.conv2 = nn.Conv2d(10, 20, kernel_size=5)
        self.dropout = nn.Dropout2d()
        self.fc1 = nn.Linear(320, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.dropout(self.conv2(x)), 2))
        x = F.relu(self.fc1(x.view(-1, 320)))
        return F.log_softmax(self.fc2(F.dropout(x, training=self.training)), dim=1)


class Reporting:
    """A loader that moves batches to the device, and on worker 0 tells how far the epoch is."""

    def __init__(self, loader, device, interval, epoch):
        self.sampler = loader.sampler
        self._loader, self._device, self._interval, self._epoch = loader, device, interval, epoch

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        for number, (images, labels) in enumerate(self._loader):
            if hvd.rank() == 0 and self._interval and number % self._interval == 0:
                done = number * self._loader.batch_size
                print(f"epoch {self._epoch}: {done} of {len(self.sampler)} images", flush=True)
            yield images.to(self._device), labels.to(self._device)


def load_digits(folder):
    """One worker of each machine fetches the data; the others wait and find it there."""
    if hvd.local_rank() == 0:
        digits.load(folder, download=True)
    hvd.barrier()
    return digits.load(folder)


def test(model, dataset, options, device):
    """(mean loss, accuracy) over the test set: each worker its share, then the mean of all."""
    model.eval()
    # without padding, which would count some images twice: the last worker may have fewer
    share = range(hvd.rank(), len(dataset), hvd.size())
    subset = torch.utils.data.Subset(dataset, share)
    loss = right = 0.0
    with torch.no_grad():
        for images, labels in DataLoader(subset, options.test_batch_size):
            output, labels = model(images.to(device)), labels.to(device)
            loss += F.nll_loss(output, labels, reduction="sum").item()
            right += (output.argmax(1) == labels).sum().item()
    per_worker = len(dataset) / hvd.size()
    return (
        lab.metric_average(loss / per_worker, "test loss"),
        lab.metric_average(right / per_worker, "test accuracy"),
    )


def check_adasum():
    """Adasum is there only in an MPI build, and only for 1, 2, 4, 8, … workers."""
    if not hvd.mpi_built():
        raise SystemExit("--use-adasum needs a Horovod that was built with MPI: make horovod")
    if not hvd.mpi_enabled():
        raise SystemExit("--use-adasum needs MPI: start this by mpirun, not by horovodrun --gloo")
    if hvd.size() & (hvd.size() - 1):
        raise SystemExit(f"--use-adasum needs 1, 2, 4, 8, … workers, not {hvd.size()}")


def main():
    options = arguments()
    use_cuda = not options.no_cuda and torch.cuda.is_available()
    rank, size, local_rank = lab.start(options.seed, use_cuda)
    if options.use_adasum:
        check_adasum()
    device = torch.device("cuda", local_rank) if use_cuda else torch.device("cpu")
    data = load_digits(options.data_dir)
    loader = lab.make_loader(data.train, options.batch_size)
    model = Net().to(device)
    compression = hvd.Compression.fp16 if options.fp16_allreduce else hvd.Compression.none
    optimizer = lab.make_optimizer(
        model, options.lr, options.momentum, compression,
        hvd.Adasum if options.use_adasum else hvd.Average,
    )  # fmt: skip
    if rank == 0:
        print(f"{size} worker(s) on {device.type}, {data.source}", flush=True)
    for epoch in range(1, options.epochs + 1):
        batches = Reporting(loader, device, options.log_interval, epoch)
        loss = lab.metric_average(lab.train_epoch(model, batches, optimizer, epoch), "train loss")
        test_loss, accuracy = test(model, data.test, options, device)
        if rank == 0:
            print(
                f"epoch {epoch}: train loss {loss:.4f}, test loss {test_loss:.4f}, "
                f"test accuracy {accuracy:.2%}", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
