"""Hidden cases of `train`."""

from distlab.exercises.exercise import Case


def _training(seed, strategy, devices=2, size=1, batches=3, batch=16, epochs=2):
    about = {"batches": batches, "batch": batch, "epochs": epochs}
    return Case(size, seed, {"strategy": strategy, "devices": devices, **about})


HIDDEN = (
    _training(101, "one replica", devices=1),
    _training(102, "mirrored", devices=4, batch=8, epochs=3),
    _training(103, "central storage", batches=2, batch=24),
    _training(104, "two workers", devices=1, size=2, batches=4, batch=8),
)
