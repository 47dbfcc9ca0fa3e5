"""Hidden cases of lab 07."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn

HIDDEN = {
    "start": (
        Case(2, 101),
        Case(2, 102, {"use_cuda": True, "gpus": 4}),
        Case(4, 103, {"use_cuda": False, "gpus": 2, "per_node": 2}),
        Case(3, 104, {"use_cuda": True, "gpus": 2, "per_node": 2}),
        Case(1, 105),
    ),
    "make_loader": (
        Case(2, 101, {"n": 20, "batch_size": 4}),
        Case(5, 102, {"n": 13, "batch_size": 3}),
        Case(1, 103, {"n": 10, "batch_size": 4}),
        Drawn(3, 104, lambda chance: {"n": chance.whole(150, 250), "batch_size": 64}),
        Case(4, 105, {"n": 3, "batch_size": 2}),  # fewer samples than workers
    ),
    "make_optimizer": (
        Case(2, 101),
        Case(2, 102),  # another seed, nothing else
        Case(4, 103, {"lr": 0.02, "momentum": 0.9}),
        # on two ranks a sum of halves does not depend on its order
        Case(2, 104, {"compression": "fp16", "op": "Sum", "lr": 0.2}),
        Case(3, 108, {"op": "Sum", "lr": 0.2}),
        Case(4, 105, {"op": "Adasum", "compression": "fp16"}),
        Case(1, 106, {"lr": 0.5}),
        Case(5, 107, {"momentum": 0.0}),
    ),
    "metric_average": (
        Case(2, 101),
        Case(2, 102),
        Case(5, 103, {"scale": 1000.0}),
        Case(1, 104),
        Case(4, 105, {"scale": 0.01}),
    ),
    "train_epoch": (
        Case(2, 101, {"epoch": 3}),
        Case(2, 102, {"epoch": 3}),
        Case(4, 103, {"epoch": 7, "batches": 3, "batch_size": 5}),
        Case(1, 104, {"epoch": 1}),
        Case(5, 105, {"epoch": 2, "batches": 1, "batch_size": 8}),
    ),
    "tape_step": (
        Case(2, 101),
        Case(2, 102),
        Case(3, 103, {"rows": 7, "momentum": 0.0}),
        Case(2, 104, {"optimizer": "Adam", "lr": 0.01}),
        Case(1, 105),
    ),
}
