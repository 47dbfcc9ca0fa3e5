"""Lab 03: what its exercises ask.

Datasets and models here are tiny and made on the rank. What a function does besides returning (who
wrote a file, which samples a model saw, what a sampler was told) is noted and compared too.
"""

from __future__ import annotations

from distlab.course.lab03_cifar10_ddp.checkpoints import load_checkpoint, save_checkpoint
from distlab.course.lab03_cifar10_ddp.evaluating import evaluate
from distlab.course.lab03_cifar10_ddp.preparing import (
    make_model,
    make_train_loader,
    set_random_seeds,
)
from distlab.course.lab03_cifar10_ddp.training import train_epoch
from distlab.course.lab03_cifar10_ddp.wrapping import wrap

EXERCISES = [
    set_random_seeds, make_model, make_train_loader, wrap,
    train_epoch, evaluate, save_checkpoint, load_checkpoint,
]  # fmt: skip
