"""The trial: hand in a class, grade it in one run, and look at what became of everything around."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from distlab import course
from distlab.records import redaction
from grader import coursedir, secret
from grader.judging import record
from hostile import broken, entries
from hostile.entries import LAB, NOT_GRADED, Entry

LONGEST = 180.0  # seconds that a submission may take on a busy machine, whatever it does
JOBS = 2 * (os.cpu_count() or 1)  # as many as `distlab grade` takes by itself
NOBODY = 65534
SHARED = (Path("/tmp"), Path("/var/tmp"), Path("/dev/shm"))
HOME_OF_ITS_OWN = {".cache", ".config", ".ipython", ".jupyter", ".local"}  # of nbgrader's libraries


@dataclass
class Trial:
    """A graded class and what was found afterwards."""

    entries: list[Entry]
    reports: dict[str, dict]  # by the name that the report has
    seconds: float
    status: int
    said: str
    texts: dict[str, str]  # all that the run has written, by file
    secrets: dict[str, str]  # text → what it is
    grades: Path  # the gradebook's folder, which nothing may name that students are given
    changed: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    visitors: int = 0

    def line(self, entry: Entry) -> dict:
        return self.reports[redaction.shown(entry.student)]

    def complaint(self, entry: Entry) -> str:
        """How a submission was judged otherwise than stated; empty where it was not."""
        if redaction.shown(entry.student) not in self.reports:
            return "is not in the report"
        got = self.line(entry)
        if entry.perhaps and got.get("status") == entry.perhaps and not got["score"]:
            return ""
        lost = {e["name"]: e["status"] for e in got.get("exercises", ()) if e["status"] != "passed"}
        fits = bool(entry.status) or _as_stated(lost, entry.expected)
        if got.get("status", "") != entry.status or not fits:
            stated = entry.status or entry.expected
            said = [e["message"] for e in self._bad(entry)] if "exercises" in got else []
            return f"{stated} stated, got {self.outcome(entry)}: {' '.join(said)[-400:]}"
        if got["score"] != entry.score:
            return f"{entry.score} points stated, got {got['score']}"
        if entry.says not in self.messages(entry):
            return f"{entry.says!r} is not said: {self.messages(entry)[:300]}"
        return ""

    def messages(self, entry: Entry) -> str:
        got = self.line(entry)
        return " ".join([got.get("message", ""), *(e["message"] for e in got.get("exercises", ()))])

    def outcome(self, entry: Entry) -> str:
        got = self.line(entry)
        if "status" in got:
            return got["status"]
        return ", ".join(f"{e['name']} {e['status']}" for e in self._bad(entry)) or "nothing"

    def _bad(self, entry: Entry) -> list[dict]:
        """The exercises that were lost, but for those that are stated to be unanswered."""
        found = self.line(entry)["exercises"]
        bad = [e for e in found if e["status"] not in ("passed", "unanswered")]
        return bad + [e for e in found if entry.lost.get(e["name"]) == "unanswered"]

    def leaks(self) -> list[str]:
        """Secrets in what was written or said, with where."""
        return [
            f"{what} in {name}"
            for name, text in {**self.texts, "the terminal": self.said}.items()
            for secret, what in self.secrets.items()
            if secret in text
        ] + [  # the terminal is the instructor's and tells where all that was written lies
            f"the gradebook's folder in {name}"
            for name, text in self.texts.items()
            if str(self.grades) in text
        ]


def _as_stated(lost: dict[str, str], expected: dict[str, str]) -> bool:
    """Have those exercises ended so? Which limit comes first may depend on the machine."""
    return lost.keys() == expected.keys() and all(
        status in expected[name].split(" or ") for name, status in lost.items()
    )


def run(names: Iterable[str] | None = None, jobs: int = JOBS, timeout: float = 2400) -> Trial:
    """Grade the class, or those of these names, in a folder of its own that is removed then."""
    with (
        tempfile.TemporaryDirectory(prefix="hostile-") as folder,
        _Listener() as listener,
        contextlib.ExitStack() as meanwhile,
    ):
        place = Path(folder)
        grades, home, temporary = place / "grades", place / "home", place / "tmp"
        for made in (grades, home, temporary):
            made.mkdir()
        canaries = {kind: f"CANARY_{secrets.token_hex(8)}" for kind in ("environment", "home")}
        (home / "canary").write_text(canaries["home"])
        fresh = secret.draw(place / "secret" / "secret")
        known = {
            "places": entries.places(grades, home, fresh.path, fresh.path.parent),
            "port": str(listener.port), "abstract": listener.name,
            **entries.about(fresh),
        }  # fmt: skip
        chosen = [e for e in everybody(known) if names is None or e.student in names]
        install(fresh, {entry.lab for entry in chosen})
        for entry in chosen:
            where = grades / "submitted" / entry.student / entry.lab
            where.mkdir(parents=True)
            entry.write(where)
            meanwhile.enter_context(entry.meanwhile(where))
        before, begin = Surroundings(home), time.monotonic()
        env = {
            **os.environ, "DISTLAB_GRADES": str(grades), "HOME": str(home),
            "TMPDIR": str(temporary), "DISTLAB_CANARY": canaries["environment"],
            secret.VARIABLE: str(fresh.path),
        }  # fmt: skip
        reports: dict[str, dict] = {}
        said, status = "", 0
        for lab in sorted({entry.lab for entry in chosen}):
            report = grades / f"{lab}.report.json"
            words = ["distlab", "grade", lab, "--jobs", str(jobs), "--json", str(report)]
            with (place / "said").open("w+", errors="replace") as output:
                done = subprocess.run(
                    [sys.executable, "-m", *words], cwd=coursedir.ROOT, env=env, timeout=timeout,
                    stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                )  # fmt: skip
                output.seek(0)
                said += output.read()
            status = status or done.returncode
            if report.exists():
                content = json.loads(report.read_text("utf-8"))
                reports |= {one["student"]: one for one in content["submissions"]}
        meanwhile.close()
        trial = Trial(
            chosen, reports, time.monotonic() - begin, status, said, _texts(grades),
            {**{value: f"the canary of the {kind}" for kind, value in canaries.items()},
             **hidden_values(fresh)},
            grades,
        )  # fmt: skip
        trial.changed = before.changed()
        trial.left = processes_of(folder) + [str(p) for p in temporary.iterdir()]
        trial.visitors = listener.visitors
        return trial


def install(fresh: secret.Secret, chosen: Iterable[str]) -> None:
    """Give the class a secret of its own, as every real one has."""
    from distlab.engines import ranks

    with secret.using(fresh):
        for lab in chosen:
            record.record(lab)
    ranks.end_local()
    secret.keep(fresh)


def everybody(known: dict[str, str]) -> Iterator[Entry]:
    yield from entries.honest()
    yield from entries.attacks(known)
    yield from broken.entries()


class _Listener:
    """A port and an abstract socket of this machine that nobody may reach."""

    def __enter__(self) -> _Listener:
        self.name, self.visitors = f"hostile-{secrets.token_hex(4)}", 0
        self._sockets = [socket.socket(), socket.socket(socket.AF_UNIX)]
        self._sockets[0].bind(("127.0.0.1", 0))
        self._sockets[1].bind(f"\0{self.name}")
        self.port = self._sockets[0].getsockname()[1]
        for one in self._sockets:
            one.listen()
            threading.Thread(target=self._accept, args=(one,), daemon=True).start()
        return self

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                listening.accept()[0].close()
                self.visitors += 1

    def __exit__(self, *exc) -> None:
        for one in self._sockets:
            one.close()


class Surroundings:
    """The course, the libraries, the home and shared folders, to be compared with later."""

    def __init__(self, home: Path) -> None:
        self._home, self._begin = home, time.time_ns()
        self._course, self._shared = self._hashes(), self._strangers()

    def changed(self) -> list[str]:
        now = self._hashes()
        found = [
            name for name in {**now, **self._course} if now.get(name) != self._course.get(name)
        ]
        found += sorted(self._strangers() - self._shared)
        found += [
            name for name in os.listdir(self._home) if name not in {*HOME_OF_ITS_OWN, "canary"}
        ]
        for folder, _, files in os.walk(sys.prefix):
            if "__pycache__" not in folder:
                paths = (os.path.join(folder, name) for name in files)
                found += [path for path in paths if os.lstat(path).st_ctime_ns > self._begin]
        return found

    @staticmethod
    def _hashes() -> dict[str, str]:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=coursedir.ROOT, capture_output=True, check=True,
        ).stdout.split(b"\0")  # fmt: skip
        paths = [coursedir.ROOT / os.fsdecode(name) for name in listed if name]
        return {
            str(path): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in paths
            if path.is_file()
        }

    @staticmethod
    def _strangers() -> set[str]:
        """What student code's user owns in folders that all share."""
        found = set()
        for folder in SHARED:
            for path in folder.iterdir():
                with contextlib.suppress(OSError):
                    if path.lstat().st_uid == NOBODY or path.name.startswith("planted"):
                        found.add(str(path))
        return found


def processes_of(marker: str) -> list[str]:
    """Processes with the marker in their command line or environment, but for this one."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        for name in ("cmdline", "environ"):
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{pid}/{name}").read_bytes()
                if marker.encode() in text and int(pid) != os.getpid():
                    found.append(f"process {pid}: {text[:200]!r}")
                    break
    return found


def hidden_values(used: secret.Secret) -> dict[str, str]:
    """Numbers of hidden cases as attacks and messages would write them, and what made them."""
    with secret.using(used):
        found = _hidden_values()
        for exercise in course.exercises(LAB).values():
            for case in coursedir.hidden(LAB)[exercise.name]:
                found[case.entropy.hex()] = f"the seed of a hidden case of {exercise.name}"
    return found | {used.key.hex(): "the course's secret"}


def _hidden_values() -> dict[str, str]:
    import numpy as np

    found: dict[str, str] = {}
    for exercise in course.exercises(LAB).values():
        for case in coursedir.hidden(LAB).get(exercise.name, ()):
            what = f"a value of a hidden case of {exercise.name}"
            trees = [*exercise.inputs(case), *coursedir.reference(exercise, case)]
            for array in _arrays(trees):
                if array.dtype.kind != "f" or array.size < 2:
                    continue
                first = array.ravel()[:8]
                pairs = zip(first, first[1:], strict=False)
                found |= {f"{x:.6f}": what for x in first if f"{x:.6f}" != f"{x:.0f}.000000"}
                found |= {
                    np.array2string(np.array(pair), precision=5, separator=", ")[1:-1]: what
                    for pair in pairs if pair[0] != pair[1]
                }  # fmt: skip
    return found


def _arrays(value: object) -> Iterator:
    import numpy as np

    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            yield from _arrays(one)
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _arrays(one)


def _texts(grades: Path) -> dict[str, str]:
    """What the run has written for people and programs; submissions and the database aside."""
    paths = [
        path
        for path in grades.rglob("*")
        if path.is_file() and path.suffix in (".json", ".csv", ".html", ".ipynb")
        and "submitted" not in path.parts
    ]  # fmt: skip
    return {str(path.relative_to(grades)): path.read_text("utf-8", "replace") for path in paths}


def table(trial: Trial) -> str:
    """What each tried and what happened."""
    rows = [("submission", "tries", "lost", "points", "seconds", "")]
    for entry in trial.entries:
        if redaction.shown(entry.student) not in trial.reports:
            rows.append(
                (redaction.shown(entry.student), entry.tries, "not in the report", "", "", "✗")
            )
            continue
        got = trial.line(entry)
        rows.append((
            redaction.shown(entry.student)[:30], entry.tries, trial.outcome(entry)[:48],
            f"{got['score']}/{got['max_score']:g}", f"{got.get('seconds', 0.0):.1f}",
            "✗" if trial.complaint(entry) else "✓",
        ))  # fmt: skip
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
    return "\n".join(line.rstrip() for line in lines)


def findings(trial: Trial) -> Sequence[str]:
    """All that is not as it should be."""
    found = [f"{redaction.shown(e.student)}: {said}"
             for e in trial.entries if (said := trial.complaint(e))]  # fmt: skip
    took = {name: one.get("seconds", 0.0) for name, one in trial.reports.items()}
    found += [f"{name} took {seconds:.0f} s" for name, seconds in took.items() if seconds > LONGEST]
    found += [f"leaked: {leak}" for leak in trial.leaks()]
    found += [f"changed: {path}" for path in trial.changed]
    found += [f"left behind: {what}" for what in trial.left]
    found += [f"{trial.visitors} connections from inside"] * bool(trial.visitors)
    stated = int(any(entry.status == NOT_GRADED for entry in trial.entries))
    found += [f"exit status {trial.status}: {trial.said[-500:]}"] * (trial.status != stated)
    found += [f"script in {name}" for name, text in trial.texts.items()
              if name.endswith(".html") and "alert('xss')</script>" in text]  # fmt: skip
    found += ["terminal escapes in what was said"] * ("\x1b" in trial.said)
    return found
