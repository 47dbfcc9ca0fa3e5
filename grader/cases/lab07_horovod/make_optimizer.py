"""Hidden cases of `make_optimizer`."""

from distlab.exercises.exercise import Case

HIDDEN = (
    Case(2, 101),
    Case(2, 102),  # another seed, nothing else
    Case(4, 103, {"lr": 0.02, "momentum": 0.9}),
    # on two ranks a sum of halves does not depend on its order
    Case(2, 104, {"compression": "fp16", "op": "Sum", "lr": 0.2}),
    Case(3, 108, {"op": "Sum", "lr": 0.2}),
    Case(4, 105, {"op": "Adasum", "compression": "fp16"}),
    Case(1, 106, {"lr": 0.5}),
    Case(5, 107, {"momentum": 0.0}),
)
