"""Runs each step as a process of its own, with a time limit; if one fails, the others go on.

A step's outcome is kept under a key that stands for the course's sources and the settings, so that
a second call goes on where the first one stopped.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

DONE, FAILED, LATE, LEFT = "done", "failed", "over its time", "not begun"
PATIENCE = 5.0  # seconds between asking a step to end and ending it
LEAST = 10.0  # seconds that must be left for a step to begin
TOLD = 300  # characters of what a step that failed said last


@dataclass(frozen=True)
class Step:
    """One thing to do.

    Args:
        name: of its files.
        title: what it does, in a few words.
        command: arguments for Python, to which the file for the result is added.
        seconds: that it may take.
        beside: it may run beside other such steps; those that measure run alone.
    """

    name: str
    title: str
    command: tuple[str, ...]
    seconds: float = 60.0
    beside: bool = False


@dataclass
class Outcome:
    """What became of a step. `result`: what it wrote, even if it was ended before it was done."""

    name: str
    title: str
    status: str
    seconds: float = 0.0
    told: str = ""
    result: dict[str, Any] = field(default_factory=dict)


class State:
    """Outcomes on disk, one file a step, in a folder that belongs to one key.

    Args:
        folder: where the folders of all keys lie.
        key: stands for what outcomes depend on; a valid file name.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder / key
        self.folder.mkdir(parents=True, exist_ok=True)

    def of(self, step: Step) -> Outcome | None:
        """The known outcome of a step; `None` if there is none, or its file is damaged."""
        try:
            return Outcome(**json.loads(self._path(step).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            return None

    def keep(self, step: Step, outcome: Outcome) -> None:
        beside = self._path(step).with_suffix(".part")
        beside.write_text(json.dumps(asdict(outcome), indent=1, ensure_ascii=False), "utf-8")
        os.replace(beside, self._path(step))

    def log(self, step: Step) -> Path:
        return self.folder / f"{step.name}.log"

    def result(self, step: Step) -> Path:
        return self.folder / f"{step.name}.result"

    def _path(self, step: Step) -> Path:
        return self.folder / f"{step.name}.json"


class _Running:
    """A step's process, in a session of its own, so that what it has started ends with it."""

    def __init__(self, step: Step, state: State, env: Mapping[str, str], limit: float) -> None:
        self.step, self._state, self._limit = step, state, limit
        state.result(step).unlink(missing_ok=True)
        self._begin, self.end = time.monotonic(), time.monotonic() + limit
        with state.log(step).open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *step.command, str(state.result(step))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=dict(env),
                start_new_session=True,
            )  # fmt: skip

    def outcome(self) -> Outcome | None:
        """The step's outcome; `None` while it runs and has time left."""
        status = self.process.poll()
        late = status is None and time.monotonic() >= self.end
        if status is None and not late:
            return None
        said = self._last_words()  # before it is asked to end, which it may print too
        self.stop()
        found = Outcome(
            self.step.name, self.step.title, DONE, round(time.monotonic() - self._begin, 1)
        )
        try:
            found.result = dict(json.loads(self._state.result(self.step).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            found.result = {}
        if late:
            found.status, found.told = LATE, f"ended after {self._limit:.0f} s; {said}"
        elif status or not found.result:
            found.status, found.told = FAILED, said
        return found

    def stop(self) -> None:
        """End the process and all that is left of its session."""
        for how in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self.process.pid, how)
            except ProcessLookupError:
                break
            try:
                self.process.wait(PATIENCE)
            except subprocess.TimeoutExpired:
                continue
        self.process.wait()

    def _last_words(self) -> str:
        text = self._state.log(self.step).read_text("utf-8", "replace")
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        return " ".join(lines[-1:])[-TOLD:] or "it said nothing"


def run(
    steps: Sequence[Step],
    state: State,
    env: Mapping[str, str],
    seconds: float,
    at_once: int = 1,
    says: Callable[[str], None] = print,
) -> list[Outcome]:
    """Run the steps that are not done yet; returns the outcomes of all, in order.

    Whatever ends this process (Ctrl-C, say) ends the steps too; outcomes so far are kept.

    Args:
        env: the environment of their processes.
        seconds: that all of them may take; a step that begins late has less than its own limit.
        at_once: steps that run at the same time, of those that may.
    """
    end = time.monotonic() + seconds
    found: dict[str, Outcome] = {}
    for step in steps:
        if (known := state.of(step)) is not None and known.status == DONE:
            found[step.name] = known
            says(f"{step.name}: done before")
    waiting = [step for step in steps if step.name not in found]
    running: list[_Running] = []
    try:
        while waiting or running:
            while waiting and _may_begin(waiting[0], running, at_once):
                step = waiting.pop(0)
                left = end - time.monotonic()
                if left < min(LEAST, step.seconds):
                    told = "the time for all steps was up: the same command goes on here"
                    found[step.name] = Outcome(step.name, step.title, LEFT, told=told)
                    says(f"{step.name}: {LEFT}, {told}")
                    continue
                running.append(_Running(step, state, env, min(step.seconds, left)))
            for one in list(running):
                outcome = one.outcome()
                if outcome is None:
                    continue
                running.remove(one)
                state.keep(one.step, outcome)
                found[one.step.name] = outcome
                told = f": {outcome.told}" if outcome.told else ""
                says(f"{outcome.name}: {outcome.status}, {outcome.seconds:.0f} s{told}")
            _wait(running)
    finally:
        for one in running:
            one.stop()
    return [found[step.name] for step in steps]


def _may_begin(step: Step, running: Sequence[_Running], at_once: int) -> bool:
    if not running:
        return True
    beside = step.beside and all(one.step.beside for one in running)
    return beside and len(running) < at_once


def _wait(running: Sequence[_Running]) -> None:
    """Wait until one of them may have ended, or has no time left; a fifth of a second at most."""
    if not running:
        return
    first = min(running, key=lambda one: one.end)
    left = first.end - time.monotonic()
    try:
        first.process.wait(min(max(left, 0.01), 0.2))
    except subprocess.TimeoutExpired:
        return
