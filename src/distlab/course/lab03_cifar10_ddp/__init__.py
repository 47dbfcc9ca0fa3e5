"""Lab 03, CIFAR-10 with DDP: its exercises in the order of the notebook.

Datasets and models here are tiny and made on the rank. What a function does besides returning (who
wrote a file, which samples a model saw, what a sampler was told) is noted and compared too.
"""

EXERCISES = [
    "set_random_seeds",
    "make_model",
    "make_train_loader",
    "wrap",
    "train_epoch",
    "evaluate",
    "save_checkpoint",
    "load_checkpoint",
]
