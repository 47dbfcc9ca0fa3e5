"""distlab: a lab course on distributed deep learning that checks itself."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

if os.name == "nt":
    raise ImportError(
        "distlab runs on Linux and macOS. On Windows install WSL (`wsl --install` in PowerShell, "
        "as administrator), then install and run distlab inside it"
    )

__version__ = "0.1.0"

#: the public list: name → where it is, "module:name", or "module" for one that is public whole
_HOME = {
    # what every notebook uses
    "Ranks": "engines.ranks:Ranks",
    "RunFailed": "engines.results:RunFailed",
    "check": "checking.check:check",
    "compare": "viz.comparison:compare",
    "each": "engines.ranks:each",
    "submit": "engines.slurm.submit:submit",
    "terminal": "engines.command:terminal",
    "timeline": "viz.timeline:timeline",
    # what a rank can ask for
    "loopback": "processes.environment:loopback",
    "machine": "processes.machine",
    "paused": "rank.recording:paused",
    "report": "rank.reports:report",
    "world": "rank.world",
    # parts of training scripts
    "augment": "training.augment",
    "charts": "training.charts",
    "data": "training.data",
    "digits": "training.digits",
    "memory": "training.memory",
    "scaling": "training.scaling",
    "speedrun": "training.speedrun",
    "speedups": "training.speedups",
    "storage": "training.storage",
    "vision": "training.vision",
    # what takes the time that it is told, and what is calculated
    "Work": "simulation.schedules:Work",
    "cost_model": "simulation.cost_model",
    "schedules": "simulation.schedules",
    "slow_links": "simulation.slow_links:slow_links",
    # what one lab's notebook shows
    "BeforeAfter": "viz.before_after:BeforeAfter",
    "output_of": "engines.command:output_of",
    "pickling": "engines.by_value",
    "ring_steps": "course.lab04_ring_allreduce.ring_steps:ring_steps",
    "frameworks": "processes.frameworks",
    "horovod_ranks": "course.lab07_horovod.ranks",
    "horovod_timeline": "course.lab07_horovod.timeline",
    "with_horovod": "course.lab07_horovod.ranks:with_horovod",
    "placement": "course.lab08_tensorflow_strategies.placement",
    "servers": "course.lab08_tensorflow_strategies.servers",
    "strategies": "course.lab08_tensorflow_strategies.strategies",
    "strategy_picture": "course.lab08_tensorflow_strategies.picture",
    "Job": "course.lab09_when_it_breaks.job:Job",
    "meet": "course.lab09_when_it_breaks.meeting_picture:meet",
    "gathered": "course.lab10_sharding_and_overlap.gathered",
    "layer": "course.lab10_sharding_and_overlap.layers:layer",
    "lifetimes": "course.lab10_sharding_and_overlap.lifetimes",
    "overlap": "course.lab10_sharding_and_overlap.overlap",
    "gantt": "course.lab11_long_sequences_and_experts.gantt",
    "mesh": "course.lab11_long_sequences_and_experts.mesh",
}
__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    """Import what is asked for and nothing else: `import distlab` takes no time."""
    if name not in _HOME:
        raise AttributeError(f"module 'distlab' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    try:
        value = importlib.import_module(f"distlab.{module}")
    except (AttributeError, ImportError) as error:
        if said := _in_the_way():  # of an AttributeError `from distlab import …` would say nothing
            raise ImportError(said) from error
        raise
    if attribute:
        value = getattr(value, attribute)
    globals()[name] = value
    _tell_figures()
    return value


def _tell_figures() -> None:
    """Have this notebook show figures with what is to be seen in words. (Its kernel may have
    imported distlab before it had a shell.)
    """
    if shell := "IPython" in sys.modules and sys.modules["IPython"].get_ipython():
        words = shell.display_formatter.mimebundle_formatter
        words.for_type_by_name("matplotlib.figure", "Figure", _told)


def _told(figure: Any, **_: Any) -> Any:
    from distlab.viz import alt_text

    return alt_text.bundle(figure)


def _in_the_way() -> str:
    """A sentence on a file beside the program that was imported in place of one of Python's modules
    or of PyTorch; empty where there is none.
    """
    beside = {os.path.abspath(folder) for folder in ("", *sys.path[:1])}
    for name in (*sys.stdlib_module_names, "numpy", "torch"):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and os.path.dirname(os.path.abspath(file)) in beside:
            return f"{file} is imported in place of the module {name}: give it another name"
    return ""


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
