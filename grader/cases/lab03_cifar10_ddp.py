"""Hidden cases of lab 03."""

from distlab.exercises.exercise import Case
from grader.cases import Drawn

HIDDEN = {
    "set_random_seeds": (
        Case(1, 101),
        Drawn(1, 102, lambda chance: {"seed": chance.whole(4_294_900_000, 4_294_967_000)}),
        Case(2, 103),
    ),
    "make_model": (
        Drawn(1, 101, lambda chance: {"num_classes": chance.whole(80, 120)}),
        Case(1, 0, {"num_classes": 1}),
        Drawn(1, 102, lambda chance: {"num_classes": chance.whole(4, 9)}),
    ),
    "make_train_loader": (
        Case(2, 101, {"n": 21, "batch_size": 4}),
        Case(2, 102, {"n": 21, "batch_size": 4}),  # another seed, nothing else
        Case(5, 103, {"n": 13, "batch_size": 3}),
        Case(4, 104, {"n": 3, "batch_size": 2}),  # fewer samples than ranks
        Case(1, 105, {"n": 10, "batch_size": 4}),
        Case(3, 106, {"n": 200, "batch_size": 64}),
    ),
    "wrap": (
        Case(2, 101, {"index": 3}),
        Case(2, 102, {"index": 3}),
        Case(5, 103, {"features": 7}),
        Case(1, 104, {"index": 2}),
        Case(3, 105, {"features": 300, "n": 2}),
    ),
    "train_epoch": (
        Case(2, 101, {"epoch": 3}),
        Case(2, 102, {"epoch": 3}),
        Case(4, 103, {"epoch": 7, "batches": 3, "batch_size": 5}),
        Case(5, 104, {"epoch": 2, "batch_size": 6, "batches": 1}),
        Case(1, 105, {"epoch": 1}),
        Case(3, 106, {"epoch": 11, "momentum": 0.9, "batches": 4}),
    ),
    "evaluate": (
        Case(2, 101, {"n": 11}),
        Case(2, 102, {"n": 11}),
        Case(5, 103, {"n": 3, "wrapped": True}),
        Case(4, 104, {"n": 1}),
        Case(3, 105, {"n": 101, "batch_size": 7}),
        Case(1, 106, {"n": 9, "batch_size": 2, "wrapped": True}),
        Case(4, 107, {"n": 64, "batch_size": 16}),
    ),
    "save_checkpoint": (
        Case(2, 101, {"epoch": 41}),
        Case(4, 102, {"wrapped": True, "width": 9}),
        Case(1, 103, {"epoch": 0}),
        Case(1, 104, {"file": "failing", "width": 9000, "wrapped": True}),
    ),
    "load_checkpoint": (
        Case(2, 101, {"epoch": 41}),
        Case(2, 102, {"epoch": 41}),
        Case(3, 103, {"wrapped": True, "width": 9}),
        Case(1, 104, {"file": "from a GPU"}),
        Case(2, 105, {"file": "missing", "wrapped": True}),
        Case(2, 106, {"file": "truncated", "wrapped": True}),
        Case(1, 107, {"file": "empty"}),
        Case(1, 108, {"file": "text"}),
        Case(1, 109, {"file": "list"}),
        Case(1, 110, {"file": "without optimizer"}),
    ),
}
