"""How a returned TF_CONFIG is read, and the hints on the well-known ways to get it wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from distlab.course.lab08_tensorflow_strategies import strategies
from distlab.course.lab08_tensorflow_strategies.asked import NOTHING, plain
from distlab.exercises.exercise import Hint, Look

TEXT = "TF_CONFIG as JSON"
NO_JSON = "a text that is no JSON"
OTHER_JSON = 'JSON without "cluster" and "task"'


def _seen(text: Any) -> Any:
    """What TensorFlow reads out of a `TF_CONFIG`; the value itself where it is no text."""
    import os

    import tensorflow as tf

    nothing = {"cluster": None, "type": None, "index": None}
    if not isinstance(text, str):
        return {"returned": plain(text), **nothing}
    try:
        found = json.loads(text)
    except ValueError:
        return {"returned": NO_JSON, **nothing}
    if not isinstance(found, dict) or not {"cluster", "task"} <= set(found):
        return {"returned": OTHER_JSON, **nothing}
    os.environ["TF_CONFIG"] = text
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    return {
        "returned": TEXT,
        "cluster": resolver.cluster_spec().as_dict(),
        "type": resolver.task_type,
        "index": resolver.task_id,
    }


def call(function, rank: int, size: int, inputs: dict[str, Any]) -> dict[str, Any]:
    return strategies.run(lambda: _seen(function(*inputs.values())))


def workers(cluster: dict[str, Any] | None) -> list[str]:
    return list((cluster or {}).get("worker", []))


def compared(
    shows: Callable[[list[str], list[str]], bool], part: Callable[[str], str] = str
) -> Callable[[Look], bool]:
    """A hint's `shows`: what this says of the workers' addresses that were found and of those that
    are asked for; or of a part of each address.
    """

    def shown(look: Look) -> bool:
        found, asked = workers(look.left("cluster")[0]), workers(look.asked("cluster")[0])
        return shows([*map(part, found)], [*map(part, asked)])

    return shown


HINTS = (
    NOTHING,
    Hint(
        "dictionary for text",
        lambda look: isinstance(look.returned[0], dict),
        "Environment variables hold text: json.dumps makes one of the dictionary.",
    ),
    Hint(
        "no text",
        lambda look: look.returned[0] not in (TEXT, NO_JSON, OTHER_JSON),
        "TF_CONFIG is a text, a str: what json.dumps returns, as it is.",
    ),
    Hint(
        "no JSON",
        lambda look: look.returned[0] == NO_JSON,
        "The text is no JSON. str() of a dictionary has single quotes, which JSON does not know: "
        "use json.dumps.",
    ),
    Hint(
        "other keys",
        lambda look: look.returned[0] == OTHER_JSON,
        'TF_CONFIG has two keys, "cluster" and "task".',
    ),
    Hint(
        "another job",
        lambda look: set(look.left("cluster")[0] or {}) != {"worker"},
        'All of them are workers: the cluster has the one job "worker", with a list of addresses.',
    ),
    Hint(
        "another type",
        lambda look: look.left("type") != ["worker"],
        'The task has "type" and "index"; its type is "worker".',
    ),
)
