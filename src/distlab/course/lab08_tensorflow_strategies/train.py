"""`train`: one training loop under four strategies."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from distlab.course.lab08_tensorflow_strategies import asked, strategies
from distlab.exercises.exercise import Case, Hint, Look, Tolerance

PIXELS, CLASSES = 64, 10  # what the given model takes and gives
SCOPE, SHARE, RAN = "variables in the scope", "samples of a replica", "replicas"


def _training(case: Case) -> list[dict]:
    return [{"seed": case.number(2**31), **case.params}] * case.size


def dataset(seed: int, batches: int, batch: int) -> Any:
    """Global batches of images and labels, the same on every worker."""
    import tensorflow as tf

    generator = np.random.default_rng([seed, batches, batch])
    labels = generator.integers(0, CLASSES, batches * batch)
    patterns = generator.standard_normal((CLASSES, PIXELS))
    images = patterns[labels] + generator.standard_normal((batches * batch, PIXELS))
    made = tf.data.Dataset.from_tensor_slices((images.astype("float32"), labels))
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.DATA
    options.threading.private_threadpool_size = 1
    return made.batch(batch, drop_remainder=True).with_options(options)


def strategy_of(kind: str, devices: int, place: strategies.Place | None) -> Any:
    """The strategy of a case, over the devices of this process."""
    import tensorflow as tf

    if kind == "two workers":
        return strategies.multi_worker(place)  # before anything has run, devices listed included
    names = [device.name for device in tf.config.list_logical_devices()][:devices]
    if kind == "mirrored":
        return tf.distribute.MirroredStrategy(names)
    if kind == "central storage":
        return tf.distribute.experimental.CentralStorageStrategy(names)
    return tf.distribute.OneDeviceStrategy(names[0])


def _call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    return strategies.run(
        _trained, function, inputs, rank=rank, size=size, devices=inputs["devices"]
    )


def _trained(*arguments: Any) -> dict[str, Any]:
    import keras

    *place, function, inputs = arguments
    strategy = strategy_of(inputs["strategy"], inputs["devices"], *place or [None])
    batches = dataset(inputs["seed"], inputs["batches"], inputs["batch"])
    keras.utils.set_random_seed(inputs["seed"])
    with _watched(strategy, inputs["batch"]) as seen:
        try:
            losses = function(strategy, batches, inputs["epochs"])
        except Exception as error:
            if not seen[RAN] or seen[SCOPE]:
                raise
            # the variables were made outside the scope: that is what the verdict should say
            losses = f"nothing: it raised {type(error).__name__}"
    return {"returned": asked.plain(losses), **seen}


@contextlib.contextmanager
def _watched(strategy: Any, batch: int) -> Iterator[dict[str, Any]]:
    """Note where a loop makes its variables, and how many samples each replica gets."""
    from unittest import mock

    import keras
    import tensorflow as tf

    seen = {SCOPE: False, RAN: 0, SHARE: 0}
    called = keras.Model.__call__
    count = strategy.num_replicas_in_sync

    def call(model, *args, **kwargs):
        context = tf.distribute.get_replica_context()
        if context is not None and tf.distribute.get_strategy() is strategy:
            seen[RAN] = max(seen[RAN], context.num_replicas_in_sync)
            weights = model.trainable_variables
            seen[SCOPE] = bool(weights) and all(
                strategy.extended.variable_created_in_scope(v.value) for v in weights
            )
            rows = args[0].shape[0] if args else None
            seen[SHARE] = max(seen[SHARE], batch // count if rows is None else int(rows))
        return called(model, *args, **kwargs)

    with mock.patch.object(keras.Model, "__call__", call):
        yield seen


def _losses(look: Look) -> np.ndarray:
    return np.array(look.returned[0], dtype=float)


def _wanted(look: Look) -> np.ndarray:
    return np.array(look.wanted[0], dtype=float)


def _times(factor):
    """A hint's `shows`: is the first epoch's loss this many times what it should be?"""

    def shows(look: Look) -> bool:
        ratio = _losses(look)[0] / _wanted(look)[0]
        return bool(abs(ratio - factor(look)) < 1e-3 * factor(look)) and factor(look) != 1

    return shows


def _parts(look: Look) -> bool:
    """Do the losses of all workers add up to the right ones?"""
    together = np.sum(look.returned, axis=0)
    return look.size > 1 and bool(np.allclose(together, _wanted(look), rtol=1e-4))


def _replicas(look: Look) -> int:
    return look.case.params["devices"] * look.size


_SMALL = {"devices": 2, "batches": 3, "batch": 16, "epochs": 2}

exercise = asked.with_tensorflow(
    points=5,
    make=_training,
    call=_call,
    deadline=asked.DEADLINE,
    tolerance=Tolerance(rtol=1e-5, atol=1e-5),
    asks="train returns the mean loss of each epoch, a list of numbers: the same that a single "
    "replica has on the same global batches, under every strategy.",
    visible=(
        Case(1, 1, {"strategy": "mirrored", **_SMALL}),
        Case(1, 1, {"strategy": "central storage", **_SMALL}),
        Case(2, 1, {"strategy": "two workers", **_SMALL, "devices": 1}),
    ),
    hints=(
        asked.NOTHING,
        asked.AS_LIST,
        Hint(
            "not under the strategy",
            lambda look: look.differs(RAN),
            "The model was never called in a replica of this strategy: a step has to go through "
            "strategy.run. A loop that ignores its strategy has the right losses, and does all of "
            "the work on one device.",
        ),
        Hint(
            "variables outside the scope",
            lambda look: look.differs(SCOPE),
            "The model's variables were made outside `with strategy.scope():`, so that they belong "
            "to no strategy. Make the model and the optimizer inside.",
        ),
        Hint(
            "whole batches for everybody",
            lambda look: look.differs(SHARE),
            "Each replica was given the whole global batch, and all of them compute the same. "
            "strategy.experimental_distribute_dataset divides each batch among the replicas.",
        ),
        Hint(
            "number of losses",
            lambda look: _losses(look).shape != _wanted(look).shape,
            "One number for each epoch: the mean over the losses of its batches.",
        ),
        Hint(
            "sum of the replicas",
            _times(_replicas),
            "Each loss is the sum of the replicas' mean losses: the global batch's mean is wanted. "
            "Divide each replica's sum by the size of the global batch.",
        ),
        Hint(
            "mean of the sums",
            _times(lambda look: look.case.params["batch"] / _replicas(look)),
            "These are means over replicas of sums over samples: divide by the number of samples, "
            "and only once.",
        ),
        Hint(
            "sum of the samples",
            _times(lambda look: look.case.params["batch"]),
            "These are sums over the samples of a global batch: divide by how many there are.",
        ),
        Hint(
            "sum of the batches",
            _times(lambda look: look.case.params["batches"]),
            "These are sums over the batches of an epoch: divide by how many there were.",
        ),
        Hint(
            "share of the loss",
            _times(lambda look: 1 / _replicas(look)),
            "These losses are too small by the number of replicas: each replica's part is divided "
            "by the global batch, so that the parts have to be added up, not averaged.",
        ),
        Hint(
            "each worker its own part",
            _parts,
            "Each worker returned the part of its own replicas, and together they are right. What "
            "runs outside of strategy.run sees this worker's values alone: strategy.reduce adds up "
            "those of all.",
        ),
        Hint(
            "first epoch alone",
            lambda look: bool(np.allclose(_losses(look)[0], _wanted(look)[0], rtol=1e-5)),
            "The first epoch is right, the later ones are not. Model and optimizer are made once, "
            "before the first epoch, and each epoch's mean is over its own batches alone.",
        ),
        Hint(
            "wrong under central storage alone",
            lambda look: (
                look.case.params["strategy"] == "central storage"
                and bool(np.isfinite(_losses(look)).all())
            ),
            "The same loop had the right losses under MirroredStrategy. Under central storage the "
            "running means that Keras keeps go wrong, those of keras.metrics and of what fit "
            "reports: add up what strategy.run and strategy.reduce return.",
        ),
        Hint(
            "gradients of another size",
            lambda look: bool(np.isfinite(_losses(look)).all()) and _first_step_right(look),
            "The losses are near the single replica's, and not the same. Is an epoch's figure the "
            "mean over all of its batches, each loss taken before its step? Then it is the "
            "updates: the optimizer adds up the replicas' gradients, so that each of them has to "
            "be the gradient of its part of the *global* mean; every variable is updated once a "
            "batch, by the given optimizer, and the batches come as they are in the dataset.",
        ),
    ),
)


def _first_step_right(look: Look) -> bool:
    return abs(_losses(look)[0] - _wanted(look)[0]) < 0.5 * abs(_wanted(look)[0])
