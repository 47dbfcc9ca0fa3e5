"""`tape_step`: a step in TensorFlow 2 with Keras 3."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from distlab.course.lab07_horovod.looks import AS_TENSOR, NOTHING, initialised
from distlab.exercises.compare import Tolerance
from distlab.exercises.exercise import Case, Exercise, Hint, Look

_INPUTS, _HIDDEN, _CLASSES = 5, 4, 3
#: of `Model.get_weights`: the kernel and the bias of a layer, the factor, those of another layer
_SHAPES = ((_INPUTS, _HIDDEN), (_HIDDEN,), (_HIDDEN,), (_HIDDEN, _CLASSES), (_CLASSES,))


def _inputs(case: Case) -> list[dict]:
    made = []
    for rank in range(case.size):
        own = case.generator(100 + rank)
        generator = case.generator(rank)
        rows = case.get("rows", 4)
        made.append(
            {
                "weights": [own.standard_normal(shape).astype("float32") for shape in _SHAPES],
                "images": generator.standard_normal((2, rows, _INPUTS)).astype("float32"),
                "labels": generator.integers(0, _CLASSES, (2, rows)),
                "lr": case.get("lr", 0.1) * (1 + rank),
                "momentum": case.get("momentum", 0.9),
                "optimizer": case.get("optimizer", "SGD"),
            }
        )
    return made


def _keras_model(weights):
    """Two layers, and between them a factor that belongs to the model and is not trained."""
    import keras

    class Scaled(keras.layers.Layer):
        def build(self, shape):
            self.factor = self.add_weight(shape=(shape[-1],), trainable=False)

        def call(self, x):
            return x * self.factor

    model = keras.Sequential(
        [
            keras.layers.Input((_INPUTS,)),
            keras.layers.Dense(_HIDDEN, activation="tanh"),
            Scaled(),
            keras.layers.Dense(_CLASSES),
        ]
    )
    model.set_weights([weight.numpy() for weight in weights])
    return model


def _optimizer(inputs):
    import keras

    if inputs["optimizer"] == "Adam":
        return keras.optimizers.Adam(inputs["lr"])
    return keras.optimizers.SGD(inputs["lr"], momentum=inputs["momentum"])


def _call_tape_step(function, rank, size, inputs):
    import keras
    import tensorflow as tf

    initialised(rank, size, "tensorflow")
    # Horovod matches by name, and Keras counts names on: ranks have not had equally many cases
    keras.utils.clear_session()
    model, optimizer = _keras_model(inputs["weights"]), _optimizer(inputs)
    loss_fn = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    found = {"returned": []}
    for step, when in enumerate(("after the first step", "after two steps")):
        images, labels = (tf.constant(inputs[n][step].numpy()) for n in ("images", "labels"))
        loss = function(model, loss_fn, optimizer, images, labels, step == 0)
        found["returned"].append(loss)
        found[f"model {when}"] = [_tensor(v) for v in model.variables]
        found[f"optimizer {when}"] = [_tensor(v) for v in optimizer.variables]
    return found


def _tensor(variable):
    import torch

    value = np.array(variable.numpy() if hasattr(variable, "numpy") else variable)
    return torch.tensor(value.astype("int64" if value.dtype.kind in "iu" else value.dtype))


def _factors_alone_differ(look: Look) -> bool:
    name = "model after the first step"
    # the third variable is the factor
    trained = [[*model[:2], *model[3:]] for model in look.left(name)]
    return look.ranks_differ(name) and all(look.same(trained[0], other) for other in trained)


exercise = Exercise(
    points=5,
    make=_inputs,
    call=_call_tape_step,
    calls=True,
    group=False,
    needs=("horovod", "tensorflow"),
    deadline=40.0,  # the first step of a process builds TensorFlow's graphs
    tolerance=Tolerance(rtol=1e-3, atol=1e-4),
    asks="tape_step makes one step with gradients averaged by hvd.DistributedGradientTape; after "
    "the first, the model's and the optimizer's variables are rank 0's everywhere; it returns "
    "this worker's loss as a float.",
    visible=(Case(2, 1), Case(3, 2, {"lr": 0.05})),
    hints=(
        NOTHING,
        replace(AS_TENSOR, says=AS_TENSOR.says.replace("item()", "float()")),
        Hint(
            "never broadcast",
            lambda look: look.ranks_differ("model after the first step")
            and not _factors_alone_differ(look),
            "After the first step the workers have different models. Horovod's tape averages "
            "gradients and leaves the variables to you: broadcast them when `first` is true.",
        ),
        Hint(
            "not all variables", _factors_alone_differ,
            "The workers' trained variables agree, the others do not: a model has variables that "
            "are not trained, statistics for example, and they belong to the broadcast.",
        ),
        Hint(
            "optimizer not broadcast",
            lambda look: look.ranks_differ("optimizer after the first step"),
            "After the first step the workers' optimizers differ. Rate and momentum are variables "
            "of the optimizer: broadcast all of these as well as the model's.",
        ),
        Hint(
            "not averaged",
            lambda look: look.ranks_differ("model after two steps")
            and not look.ranks_differ("model after the first step"),
            "The workers' models are equal after the first step and not after the second: their "
            "gradients were not averaged. Is it the distributed tape whose gradients are applied?",
        ),
        Hint(
            "broadcast before the step",
            lambda look: look.differs("model after the first step")
            and not look.ranks_differ("model after the first step"),
            "After the first step the workers agree on a model that is not the right one. Look at "
            "when the broadcast is made (an optimizer has no variables before its first step), "
            "from which rank, and at the gradients that this step applies: they are the mean over "
            "the workers, not one worker's own and not the sum.",
        ),
        Hint(
            "other loss",
            lambda look: not look.differs("model after two steps"),
            "The model is right, but the loss is not this worker's own before the step.",
        ),
    ),
)  # fmt: skip
