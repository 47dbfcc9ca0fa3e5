"""Lab 07, Horovod: its exercises in the order of the notebook.

The ranks run the real Horovod. Each case starts it anew, which shuts down that of the case before.
"""

EXERCISES = [
    "start",
    "make_loader",
    "make_optimizer",
    "metric_average",
    "train_epoch",
    "tape_step",
]
