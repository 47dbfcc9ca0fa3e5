"""One submission graded by itself: how long until its verdict stands in the terminal.

    python -m bench.alone [--repeats 7]

Cold: nothing runs, the gradebook is there, and `distlab grade LAB --student NAME` is typed. Warm:
`distlab grade --watch` runs, and the submission arrives in the exchange. Instead: stock
`nbgrader autograde` and `generate_feedback`, whose verdict is there when they end, with the same
cases and `mp.spawn` in each check.
"""

from __future__ import annotations

import argparse
import getpass
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT)]

from bench import Row, header, show  # noqa: E402
from bench.grading import LAB, NAME, answers, stock  # noqa: E402
from grader import collected  # noqa: E402

REPEATS = 7
STOCK = 2  # submissions that stock nbgrader grades, a minute each


class Command:
    """`distlab` with words, whose lines are waited for. A context manager that ends it.

    Args:
        root: the checkout that it is of.
    """

    def __init__(self, folder: Path, *words: str, root: Path = ROOT) -> None:
        env = {
            **os.environ, "DISTLAB_GRADES": str(folder), "PYTHONUNBUFFERED": "1",
            "DISTLAB_EXCHANGE": str(folder / "exchange"),
            "PYTHONPATH": os.pathsep.join([str(root / "src"), str(root)]),
        }  # fmt: skip
        self.begin = time.perf_counter()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "distlab", *words], cwd=root, env=env, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        self.said: list[str] = []

    def seconds(self, *words: str) -> float:
        """Seconds from its begin until it has printed a line with all these words.

        Raises:
            RuntimeError: it ends without.
        """
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.said.append(line)
            if all(word in line for word in words):
                return time.perf_counter() - self.begin
        raise RuntimeError(f"no line has {words}:\n" + "".join(self.said))

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.terminate()
        self._process.communicate()


def cold(folder: Path, student: str, source: dict[str, str]) -> float:
    """Seconds from the command until the verdict is seen."""
    collected.hand_in(folder, student, LAB, collected.handed_in(LAB, **source))
    with Command(folder, "grade", LAB, "--student", student) as command:
        seconds = command.seconds(f"{student}: ", "points")
        command.seconds("gradebook ")  # it is entered too
    return seconds


def warm(folder: Path, sources: list[dict[str, str]]) -> list[float]:
    """Seconds from the arrival of each of these until its verdict is seen, the first left out."""
    inbound = folder / "exchange" / "distlab" / "inbound"
    inbound.mkdir(parents=True, mode=0o733)
    (folder / "exchange" / "distlab" / "outbound").mkdir()
    found = []
    with Command(folder, "grade", "--watch") as command:
        command.seconds("grading what arrives")
        student = getpass.getuser()  # whoever hands in for others is not collected
        for source in sources:
            command.begin = arrive(inbound, student, collected.handed_in(LAB, **source))
            found.append(command.seconds(f"{student}: ", "points"))
            command.seconds(f"{student} {LAB}: ")  # its feedback is released
    return found[1:]


def arrive(inbound: Path, student: str, content: dict) -> float:
    """Hand a notebook in as nbgrader does; returns when it was complete."""
    now = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
    with tempfile.TemporaryDirectory() as made:
        collected.hand_in(Path(made), student, LAB, content)
        there = inbound / f"{student}+{LAB}+{now}+0123456789"
        there.mkdir()
        source = Path(made) / "submitted" / student / LAB / NAME
        (there / NAME).write_bytes(source.read_bytes())
    (there / "submission_secret.txt").write_text(secrets.token_hex(64), "ascii")
    (there / "timestamp.txt").write_text(now, "utf-8")
    there.chmod(0o777)
    return time.perf_counter()


def measure(repeats: int = REPEATS) -> Iterator[Row]:
    ordinary = answers(2 + repeats, ordinary=True)
    with tempfile.TemporaryDirectory(prefix="bench-alone-") as name:
        folder = Path(name)
        cold(folder, "first", ordinary[0])  # there is a gradebook from now on
        seconds, instead = [], []
        for number, source in enumerate(ordinary[1 : 1 + repeats]):
            seconds.append(cold(folder, f"cold{number}", source))
            if number < STOCK:
                instead.append(stock(folder / f"stock{number}", source)[0])
        arrived = warm(folder, ordinary[: 1 + repeats])
    what = "stock nbgrader autograde and generate_feedback"
    yield Row(
        "the verdict on one submission of lab 01, nothing running before", seconds, instead, what
    )
    yield Row("the same where `distlab grade --watch` runs", arrived, instead, what)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=REPEATS)
    print(header())
    show(measure(parser.parse_args().repeats))


if __name__ == "__main__":
    main()
