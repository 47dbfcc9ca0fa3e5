"""How a returned TF_CONFIG is read, and the hints on the well-known ways to get it wrong."""

from __future__ import annotations

import json
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


def got(look: Look, name: str) -> Any:
    return look.got[0].get(name)


def workers(look: Look) -> list[str]:
    return list((got(look, "cluster") or {}).get("worker", []))


def addresses(look: Look) -> list[str]:
    return look.expected[0]["cluster"]["worker"]


HINTS = (
    NOTHING,
    Hint(
        "dictionary for text",
        lambda look: isinstance(got(look, "returned"), dict),
        "Environment variables hold text: json.dumps makes one of the dictionary.",
    ),
    Hint(
        "no text",
        lambda look: got(look, "returned") not in (TEXT, NO_JSON, OTHER_JSON),
        "TF_CONFIG is a text, a str: what json.dumps returns, as it is.",
    ),
    Hint(
        "no JSON",
        lambda look: got(look, "returned") == NO_JSON,
        "The text is no JSON. str() of a dictionary has single quotes, which JSON does not know: "
        "use json.dumps.",
    ),
    Hint(
        "other keys",
        lambda look: got(look, "returned") == OTHER_JSON,
        'TF_CONFIG has two keys, "cluster" and "task".',
    ),
    Hint(
        "another job",
        lambda look: set(got(look, "cluster") or {}) != {"worker"},
        'All of them are workers: the cluster has the one job "worker", with a list of addresses.',
    ),
    Hint(
        "another type",
        lambda look: got(look, "type") != "worker",
        'The task has "type" and "index"; its type is "worker".',
    ),
)
