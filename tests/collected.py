"""Judge the collected answers of a lab: python tests/collected.py 01-message-passing [EXERCISE]"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # in place of this folder

from distlab import course  # noqa: E402
from distlab.processes import frameworks  # noqa: E402
from distlab.processes.zygote import PRELOAD, Zygote  # noqa: E402
from grader import coursedir  # noqa: E402
from grader.collected import answers, grader, handed_in  # noqa: E402


def main(lab: str, exercise: str = "*") -> int:
    cells = [cell["metadata"].get("nbgrader", {}) for cell in coursedir.released(lab)["cells"]]
    if exercise not in ("*", *(cell.get("grade_id") for cell in cells)):
        print(f"labs/{lab} has no {exercise}: `make labs` brings it, if that is its name")
        return 1
    failures = 0
    with Zygote((*PRELOAD, *frameworks.preload(course.needs(lab)))) as source:
        for answer in answers(lab, exercise):
            judge = grader(lab, [answer.exercise])
            plan = judge.plan(handed_in(lab, **{answer.exercise: answer.source}))
            verdict = judge.grade(plan, source)[0]
            complaint = answer.complaint(verdict)
            failures += complaint is not None
            mark = "ok " if complaint is None else "BAD"
            print(
                f"{mark} {answer.exercise}/{answer.path.name} {verdict.status} [{verdict.hint}] "
                f"{verdict.seconds:.2f}s {verdict.message}", flush=True,
            )  # fmt: skip
            if complaint:
                print(f"    {complaint}", flush=True)
    print(f"{failures} judged otherwise than stated")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
