"""Copies among a class: how many are found, how many others are listed with them, in what time.

    python -m bench.likeness [--lab 01-message-passing] [--seed 1] [--large 1000]

200 submissions are made of the lab's collected answers, one drawn for each exercise (right ones two
times in three); 40 of them are copied whole, each disguised in one way (`bench.disguises`). What is
drawn comes from a small pool, so that two who did not copy have the same answer to an exercise now
and then, to the letter. Such repeats are no copies here: a pair that is listed for them counts as
wrong. Mistakes are those that the answers' own headers name, which the tests hold the judge to;
nothing is run, so that patterns of messages take no part.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from bench.disguises import DISGUISES
from distlab import course
from grader import collected, coursedir
from grader.collected import Answer
from grader.judging.ledger import Entry, Line
from grader.likeness import submissions
from grader.likeness.pairs import Likeness, likeness
from grader.likeness.submissions import Work

CLASS, COPIES = 200, 40
Drawn = Mapping[str, Answer]


def _pools(lab: str) -> dict[str, dict[bool, list[Answer]]]:
    """The collected answers to each exercise, the wrong and the right ones."""
    found: dict[str, dict[bool, list[Answer]]] = {}
    for name in course.exercises(lab):
        some = [a for a in collected.answers(lab, name) if _parses(a.source)]
        found[name] = {right: [a for a in some if a.right is right] for right in (False, True)}
    return found


def _parses(source: str) -> bool:
    try:
        compile(source, "answer", "exec")
    except SyntaxError:
        return False
    return True


def planted(
    lab: str, seed: int, size: int = CLASS, copies: int = COPIES
) -> tuple[dict[str, dict[str, str]], list[Entry], dict[tuple[str, ...], str]]:
    """({student: answers' sources}, their ledger entries, {(original, copy): disguise})."""
    rng = random.Random(seed)
    kinds = list(DISGUISES)
    sources: dict[str, dict[str, str]] = {}
    entries: list[Entry] = []
    truth: dict[tuple[str, ...], str] = {}
    pools = _pools(lab)
    for number in range(size):
        answers = {n: rng.choice(pool[rng.random() < 2 / 3]) for n, pool in pools.items()}
        name = f"s{number:04}"
        sources[name] = {n: _uncommented(a.source) for n, a in answers.items()}
        entries.append(_entry(lab, name, answers))
        if number < copies:
            kind = kinds[number % len(kinds)]
            copy = f"t{rng.randrange(10**6):06}"
            sources[copy] = {n: DISGUISES[kind](s, rng) for n, s in sources[name].items()}
            entries.append(replace(entries[-1], student=copy))
            truth[tuple(sorted((name, copy)))] = kind
    return sources, entries, truth


def _uncommented(source: str) -> str:
    """An answer without the header that says how it is judged."""
    lines = source.split("\n")
    while lines and lines[0].startswith("# "):
        del lines[0]
    return "\n".join(lines)


def _entry(lab: str, student: str, answers: Drawn) -> Entry:
    lines = []
    for name, answer in answers.items():
        points = float(course.exercises(lab)[name].points)
        status = "passed" if answer.right else answer.expected.get("status", "wrong")
        said = answer.expected.get("says", "")
        lines.append(
            Line(name, status, points if answer.right else 0.0, points, said,
                 hint=answer.expected.get("hint", ""), happened=said or status)
        )  # fmt: skip
    return Entry(student, lab, "", lines)


def hand_in(folder: Path, lab: str, sources: Mapping[str, Mapping[str, str]]) -> None:
    blank = coursedir.released(lab)
    for student, answers in sources.items():
        collected.hand_in(folder, student, lab, collected.filled(blank, **answers))


def found(lab: str, works: Sequence[Work], runs: bool) -> Likeness:
    if not runs:
        works = [replace(work, lines={}) for work in works]
    return likeness(works, submissions.starter(lab))


def table(result: Likeness, truth: Mapping[tuple[str, ...], str]) -> Iterator[tuple[str, ...]]:
    """(disguise, copies, found, others listed with them, precision, recall)."""
    listed = {tuple(sorted((p.one.student, p.other.student))) for p in result.pairs}
    for kind in [*DISGUISES, "all"]:
        real = {pair for pair, how in truth.items() if kind in (how, "all")}
        copies = {student for pair in real for student in pair if student.startswith("t")}
        wrong = {pair for pair in listed - truth.keys() if kind == "all" or copies & set(pair)}
        right = len(listed & real)
        share = f"{right / (right + len(wrong)):.2f}" if right + len(wrong) else "–"
        yield kind, str(len(real)), str(right), str(len(wrong)), share, f"{right / len(real):.2f}"


def show(title: str, result: Likeness, truth: Mapping[tuple[str, ...], str]) -> None:
    print(f"\n{title}; listed from {result.least:.1f} on")
    heads = ("disguise", "copies", "found", "others", "precision", "recall")
    for row in (heads, *table(result, truth)):
        print(f"{row[0]:16}" + "".join(f"{cell:>11}" for cell in row[1:]))
    ranks = sorted(
        (-p.weight, tuple(sorted((p.one.student, p.other.student))) in truth) for p in result.pairs
    )
    before = next((n for n, (_, real) in enumerate(ranks) if not real), len(ranks))
    print(f"the first {before} of the list are copies")


def timed(
    lab: str, seed: int, size: int, copies: int
) -> tuple[list[Work], dict[tuple[str, ...], str], Likeness]:
    """What a class of this size takes, from the files that were handed in."""
    sources, entries, truth = planted(lab, seed, size, copies)
    with tempfile.TemporaryDirectory(prefix="bench-likeness-") as name:
        hand_in(Path(name), lab, sources)
        begin, cpu = time.perf_counter(), time.process_time()
        works = list(submissions.read(lab, Path(name, "submitted"), entries))
        read = time.perf_counter()
        result = found(lab, works, runs=True)
        end, spent = time.perf_counter(), time.process_time() - cpu
    print(
        f"{len(entries)} submissions: {end - begin:.1f} s, {read - begin:.1f} s of it to read "
        f"them; {spent:.1f} s of CPU"
    )
    return works, truth, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lab", default="01-message-passing")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--large", type=int, default=1000, help="a class that is only timed")
    arguments = parser.parse_args()
    works, truth, result = timed(arguments.lab, arguments.seed, CLASS, COPIES)
    show("by text alone", found(arguments.lab, works, runs=False), truth)
    show("by text and mistakes", result, truth)
    print()
    if arguments.large:
        timed(arguments.lab, arguments.seed, arguments.large, COPIES)


if __name__ == "__main__":
    main()
