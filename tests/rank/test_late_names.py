"""Ranks that are forked early reach what complete ones reach."""

import json
import subprocess
import sys

from distlab.processes.zygote import NEEDED, PRELOAD

#: modules by the names that lead to them, however long
REACHED = """
import json, sys, types
from distlab.processes import forkserver

for name in json.loads(sys.argv[1]):
    forkserver.load_ahead(name)


def reached(name):
    top, *rest = name.split(".")
    found = sys.modules.get(top)
    for part in rest:
        found = getattr(found, part, None)
    return isinstance(found, types.ModuleType)


asked = json.loads(sys.argv[2]) or list(sys.modules)
print(json.dumps([name for name in asked if reached(name)]))
"""
#: distlab's own names are imported by whoever uses them; no rank exports a model
NOT_MEANT = ("distlab", "torch.onnx")
EARLY = PRELOAD[: PRELOAD.index(NEEDED) + 1]


def reached(preload, asked=()):
    """The modules that are reached by their names without a further import."""
    words = [json.dumps(list(preload)), json.dumps(list(asked))]
    done = subprocess.run(
        [sys.executable, "-c", REACHED, *words], capture_output=True, text=True, check=True,
        timeout=300,
    )  # fmt: skip
    return set(json.loads(done.stdout.splitlines()[-1]))


def is_meant(name):
    return not name.startswith(NOT_MEANT) and not any(p.startswith("_") for p in name.split("."))


def test_what_is_reached_without_an_import_does_not_depend_on_when_a_rank_was_forked():
    complete = reached(PRELOAD)
    early = reached(EARLY)
    begun = {name.partition(".")[0] for name in early}  # the rest has to be imported by name
    asked = {name for name in complete if name.partition(".")[0] in begun and is_meant(name)}
    assert "torch.distributed.nn.functional" in asked - early
    assert sorted(asked - reached(EARLY, sorted(asked))) == []
