"""The results, as a folder to commit: a page, all figures as data, the logs and the references.

Eight files at most, and no folders in it: some machines hand no more back.
"""

from __future__ import annotations

import io
import json
import re
import sys
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from grader.gpu.runner import DONE, Outcome, State
from grader.gpu.settings import WAYS
from grader.paths import ROOT

GOALS = ("90%", "93%", "94%")
#: what the page is called and its heading begins with, where there is no GPU
PRETENDED = (
    "PRETENDED: this ran on the CPU, in small sizes, to exercise the steps. No figure here says "
    "anything about a GPU."
)


def name(here: Mapping[str, Any], pretend: bool) -> str:
    """The folder's name: the GPU's, in small letters."""
    if pretend:
        return "pretended"
    return re.sub(r"[^a-z0-9]+", "-", " ".join(here["gpus"][:1]).lower()).strip("-")


def heading(here: Mapping[str, Any], pretend: bool) -> str:
    """The machine and its versions, in a sentence or two."""
    gpus = here["gpus"]
    what = f"{len(gpus)} × {gpus[0]}" if gpus else "no GPU"
    cuda = f", CUDA {here['cuda']}, NCCL {here['nccl']}, driver {here['driver']}" if gpus else ""
    told = (
        f"{what}, {here['cores']} cores; Python {here['python']}, PyTorch {here['torch']}, "
        f"torchvision {here['torchvision']}{cuda}; commit {here['commit'] or 'unknown'}."
    )
    return f"{PRETENDED}\n{told}" if pretend else told


def write(
    folder: Path, here: Mapping[str, Any], outcomes: Sequence[Outcome], state: State,
    pretend: bool, seconds: float,
) -> None:  # fmt: skip
    """Write README.md, results.json, logs.tar.gz and, with what was recorded, references.tar.gz."""
    folder.mkdir(parents=True, exist_ok=True)
    text = as_text(here, outcomes, pretend, seconds)
    (folder / "README.md").write_text(text, "utf-8")
    content = {
        "pretended": pretend, "machine": dict(here), "seconds": round(seconds, 1),
        "steps": [asdict(one) for one in outcomes],
    }  # fmt: skip
    (folder / "results.json").write_text(
        json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )
    logs = {path.name: without_places(path.read_bytes()) for path in state.folder.glob("*.log")}
    _pack(folder / "logs.tar.gz", logs)
    recorded = (state.folder / "references").glob("*")
    _pack(folder / "references.tar.gz", {path.name: path.read_bytes() for path in recorded})


def without_places(log: bytes) -> bytes:
    """A log without the paths of this clone and this Python, which are nobody else's business."""
    if sys.prefix != sys.base_prefix:  # of an environment: elsewhere it is a word as short as /usr
        log = log.replace(sys.prefix.encode(), b"PYTHON")
    return log.replace(f"{ROOT}/".encode(), b"")


def _pack(path: Path, files: Mapping[str, bytes]) -> None:
    path.unlink(missing_ok=True)
    if not files:
        return
    with tarfile.open(path, "w:gz") as packed:
        for name, content in sorted(files.items()):
            one = tarfile.TarInfo(name)
            one.size = len(content)
            packed.addfile(one, io.BytesIO(content))


def as_text(
    here: Mapping[str, Any], outcomes: Sequence[Outcome], pretend: bool, seconds: float
) -> str:
    """The page, as Markdown."""
    done = sum(one.status == DONE for one in outcomes)
    title = "Pretended, without a GPU" if pretend else here["gpus"][0]
    lines = [
        f"# {title}", "",
        heading(here, pretend), "",
        f"Written by `make gpu{' PRETEND=1' if pretend else ''}`: {done} of {len(outcomes)} steps "
        f"done, this call took {seconds:.0f} s. `results.json` holds all figures.", "",
    ]  # fmt: skip
    by_name = {one.name: one for one in outcomes}
    lines += [*_not_done(outcomes), *_references(outcomes), *_answers(outcomes)]
    lines += _scripts(outcomes)
    for step, told in (("scaling", _scaling), ("recorder", _recorder), ("prover", _prover)):
        if step in by_name and by_name[step].result:
            lines += told(by_name[step].result)
    return "\n".join(lines).rstrip() + "\n"


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    made = ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]
    cell = [[str(one).replace("|", "\\|").replace("\n", " ") for one in row] for row in rows]
    return [*made, *("| " + " | ".join(row) + " |" for row in cell), ""]


def _not_done(outcomes: Sequence[Outcome]) -> list[str]:
    rows = [(one.name, one.status, one.told) for one in outcomes if one.status != DONE]
    return ["## Not done", "", *_table(("step", "what became of it", ""), rows)] if rows else []


def _of(outcomes: Sequence[Outcome], kind: str) -> list[Outcome]:
    return [one for one in outcomes if one.name.split("-")[0] == kind and one.result]


def _labs(outcomes: Sequence[Outcome], kind: str) -> list[tuple[str, dict[str, Any], Outcome]]:
    """(lab, its figures, the step that found them) of all steps of a kind."""
    return [
        (lab, found, one)
        for one in _of(outcomes, kind) for lab, found in one.result["labs"].items()
    ]  # fmt: skip


def _listed(title: str, some: Sequence[str]) -> list[str]:
    return [title, "", *(f"- {' '.join(one.split())}" for one in some), ""] if some else []


def _references(outcomes: Sequence[Outcome]) -> list[str]:
    found = _labs(outcomes, "references")
    if not found:
        return []
    rows = [
        (lab, of["exercises"], *(of[way] for way in WAYS), of["cases"], of["same"],
         len(of["differences"]), len(of["failed"]), one.status, f"{one.seconds:.0f} s")
        for lab, of, one in found
    ]  # fmt: skip
    head = ("lab", "exercises", *WAYS, "cases", "the same bits", "beyond tolerance", "failed",
            "step", "time")  # fmt: skip
    said = [line for _, of, _ in found for line in of["differences"] + of["failed"]]
    elsewhere = [line for _, of, _ in found for line in of["elsewhere"]]
    return [
        "## References, against the committed ones", "", *_table(head, rows),
        *_listed("What was not alike:", said),
        *_listed("Recorded with less on the GPU, because:", elsewhere),
    ]  # fmt: skip


def _answers(outcomes: Sequence[Outcome]) -> list[str]:
    found = _labs(outcomes, "answers")
    if not found:
        return []
    rows = [
        (lab, of["answers"], *(of[way] for way in WAYS), len(of["failed"]), one.status,
         f"{one.seconds:.0f} s")
        for lab, of, one in found
    ]  # fmt: skip
    said = [line for _, of, _ in found for line in of["failed"]]
    alone = [line for _, of, _ in found for line in of["only as graded"]]
    newer = [line for _, of, _ in found for line in of.get("left out", [])]
    head = ("lab", "answers", *(f"right {way}" for way in WAYS), "failed", "step", "time")
    return [
        "## Solutions and right answers on CUDA tensors", "",
        "On the GPU: inputs lie there, and tensors that an answer makes without saying where. As "
        "graded: inputs on the CPU, which is also how exercises without tensors, and those that "
        "choose their device themselves, are judged.", "",
        *_table(head, rows), *_listed("Not right:", said),
        *_listed("Right with inputs on the CPU alone:", alone),
        *_listed("Left out, because they need a newer PyTorch than this machine has:", newer),
    ]  # fmt: skip


def _scripts(outcomes: Sequence[Outcome]) -> list[str]:
    found = _of(outcomes, "script")
    if not found:
        return []
    rows = []
    for one in found:
        result = one.result
        to = result.get("seconds to", {})
        rows.append((
            one.title, result.get("images/s", "–"), len(result.get("epochs", [])),
            f"{result['best accuracy']:.2%}" if "best accuracy" in result else "–",
            *(f"{to[goal]:.1f} s" if goal in to else "not reached" for goal in GOALS),
            f"`{result['options']}`",
        ))  # fmt: skip
    head = (
        "script",
        "images/s",
        "epochs",
        "best accuracy",
        *(f"to {one}" for one in GOALS),
        "options",
    )
    told = f"`resnet_ddp.py` on {found[0].result['images']}. Seconds are of training alone."
    return ["## The training script", "", told, "", *_table(head, rows)]


def _scaling(result: dict[str, Any]) -> list[str]:
    rows = [list(one.values()) for one in result["runs"]]
    head = ("ranks", "images/s", "speed-up", "efficiency")
    body = _table(head, rows) if rows else [result.get("told", "nothing was measured"), ""]
    return ["## Scaling", "", *body]


def _recorder(result: dict[str, Any]) -> list[str]:
    rows = [
        (what, f"{1e6 * of['recorded']:.1f} µs", f"{1e6 * of['not recorded']:.1f} µs",
         f"{1e6 * of['cost']:.1f} µs", f"{of['share']:+.1%}")
        for what, of in result.items() if isinstance(of, dict)
    ]  # fmt: skip
    head = (f"one rank, {result['back end']}", "recorded", "not recorded", "cost", "share")
    return ["## What recording costs", "", *_table(head, rows)]


def _prover(result: dict[str, Any]) -> list[str]:
    rows = [
        (one["name"], "hangs" if one["hangs"] else "right",
         "proven to hang" if one["proven"] else "not accused", f"{one['seconds']} s",
         "" if one["right"] else "**wrong**")
        for one in result["programs"]
    ]  # fmt: skip
    head = ("program", "it", "verdict", "after", "")
    return ["## The prover", "", f"{result['ranks']}.", "", *_table(head, rows)]
