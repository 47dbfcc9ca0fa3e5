"""What the page asks of Python, which runs in the page itself: see index.html."""

import base64
import json
import zlib

from distlab.records import reading
from distlab.records.flight_recorder import explain
from distlab.simulation.simulator import simulator
from distlab.viz.timeline import timeline


class Playground:
    """The recorded runs of `runs.json`. What is handed to JavaScript is JSON."""

    def __init__(self, told: str) -> None:
        self._runs = {run["name"]: run for run in json.loads(told)}
        self._simulators = {}

    def records(self, name: str) -> list:
        """What the ranks of a run did, as they wrote it down."""
        raw = [zlib.decompress(base64.b64decode(text)) for text in self._runs[name]["records"]]
        return [reading.read(data) for data in raw]

    def open(self, name: str) -> str:
        """A run's picture, why it cannot end, and its simulator or why there is none."""
        run, records = self._runs[name], self.records(name)
        found = explain(records)
        verdict = f"{found.message} {found.hint}" if found else ""
        picture = timeline(records, title=run["title"], verdict=found.message if found else "")
        told = {
            "verdict": verdict or "Every operation has met its partner: this run ends.",
            "stuck": bool(found),
            "run": picture.model().inline(),
            "simulator": None,
            "why": "",
        }
        try:
            self._simulators[name] = simulator(records, title=f"{run['title']}, simulated")
            told["simulator"] = self._simulators[name].spec()
        except ValueError as wrong:
            told["why"] = str(wrong)
        return json.dumps(told, allow_nan=False)

    def answer(self, name: str, positions: str) -> str:
        """What the simulator of an opened run shows for positions of its sliders."""
        return json.dumps(self._simulators[name].answer(json.loads(positions)), allow_nan=False)
