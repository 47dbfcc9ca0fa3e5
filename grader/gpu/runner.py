"""Steps as processes of their own: each has a limit, what fails is told, and the rest goes on.

What a step found is kept under a key that stands for the course's sources and the settings, so that
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
        command: words for Python; the file for its result follows as the last one.
        seconds: that it may take.
        beside: it may run beside other steps of this kind; others run alone, since they measure.
    """

    name: str
    title: str
    command: tuple[str, ...]
    seconds: float = 60.0
    beside: bool = False


@dataclass
class Outcome:
    """What became of a step. `result`: what it wrote, also where it was ended on the way."""

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
        key: stands for what outcomes depend on; its characters are those of file names.
    """

    def __init__(self, folder: Path, key: str) -> None:
        self.folder = folder / key
        self.folder.mkdir(parents=True, exist_ok=True)

    def of(self, step: Step) -> Outcome | None:
        """What is known of a step; `None` also where its file is damaged."""
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
        self.step, self._state = step, state
        state.result(step).unlink(missing_ok=True)
        self._begin, self.end = time.monotonic(), time.monotonic() + limit
        with state.log(step).open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, *step.command, str(state.result(step))],
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=dict(env),
                start_new_session=True,
            )  # fmt: skip

    def outcome(self, limit: float) -> Outcome | None:
        """What became of it; `None` while it runs and has time."""
        status = self.process.poll()
        late = status is None and time.monotonic() >= self.end
        if status is None and not late:
            return None
        said = self._last_words()  # before it is told to end, and says that
        self.stop()
        found = Outcome(
            self.step.name, self.step.title, DONE, round(time.monotonic() - self._begin, 1)
        )
        try:
            found.result = dict(json.loads(self._state.result(self.step).read_text("utf-8")))
        except (OSError, ValueError, TypeError):
            found.result = {}
        if late:
            found.status, found.told = LATE, f"ended after {limit:.0f} s; {said}"
        elif status or not found.result:
            found.status, found.told = FAILED, said
        return found

    def stop(self) -> None:
        """End it and all of its session that is left."""
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
    """Run the steps that are not done yet; returns what is known of each, in order.

    Whatever ends this process (Ctrl-C, say) ends the steps too, and what was done is kept.

    Args:
        env: the environment of their processes.
        seconds: that all of them may take; a step that begins late has less than its own limit.
        at_once: steps that run at the same time, of those that may.
    """
    end = time.monotonic() + seconds
    found: dict[str, Outcome] = {}
    running: list[tuple[_Running, float]] = []
    waiting = []
    for step in steps:
        known = state.of(step)
        if known is not None and known.status == DONE:
            found[step.name] = known
            says(f"{step.name}: done before")
        else:
            waiting.append(step)

    def settle() -> None:
        for one, limit in list(running):
            outcome = one.outcome(limit)
            if outcome is not None:
                running.remove((one, limit))
                state.keep(one.step, outcome)
                found[one.step.name] = outcome
                says(f"{outcome.name}: {outcome.status}, {outcome.seconds:.0f} s"
                     + (f": {outcome.told}" if outcome.told else ""))  # fmt: skip

    def may_begin(step: Step) -> bool:
        beside = step.beside and all(one.step.beside for one, _ in running)
        return not running or (beside and len(running) < at_once)

    try:
        while waiting or running:
            while waiting and may_begin(waiting[0]):
                step = waiting.pop(0)
                left = end - time.monotonic()
                if left < min(LEAST, step.seconds):
                    told = "the time for all steps was up: the same command goes on here"
                    found[step.name] = Outcome(step.name, step.title, LEFT, told=told)
                    says(f"{step.name}: {LEFT}, {told}")
                    continue
                limit = min(step.seconds, left)
                running.append((_Running(step, state, env, limit), limit))
            settle()
            _wait(running)
    finally:
        for one, _ in running:
            one.stop()
    return [found[step.name] for step in steps]


def _wait(running: Sequence[tuple[_Running, float]]) -> None:
    """Until one of them may have ended, or has no time left; not longer than a moment."""
    if not running:
        return
    first = min((one for one, _ in running), key=lambda one: one.end)
    left = first.end - time.monotonic()
    try:
        first.process.wait(min(max(left, 0.01), 0.2))
    except subprocess.TimeoutExpired:
        return
