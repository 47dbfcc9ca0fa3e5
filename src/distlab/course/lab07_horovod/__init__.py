"""Lab 07, Horovod: its exercises in the order of the notebook.

The ranks run the real Horovod, which a case starts on them and the next one ends.
"""

EXERCISES = [
    "start",
    "make_loader",
    "make_optimizer",
    "metric_average",
    "train_epoch",
    "tape_step",
]
