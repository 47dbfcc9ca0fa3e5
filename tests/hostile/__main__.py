"""Grade the hostile class and print what each tried and what happened.

    python tests/hostile [--stock] [NAME …]

With `--stock` it is stock `nbgrader autograde` that grades, whose scores have to be the same.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from distlab.records import redaction  # noqa: E402
from hostile import stock, trial  # noqa: E402


def main(names: list[str]) -> int:
    if "--stock" in names:
        return by_stock([name for name in names if name != "--stock"])
    graded = trial.run(names or None)
    found = trial.findings(graded)
    print(trial.table(graded))
    print(f"\n{len(graded.entries)} submissions in {graded.seconds:.0f} s, {len(found)} findings")
    print("\n".join(found))
    return 1 if found else 0


def by_stock(names: list[str]) -> int:
    compared = stock.compare(names or None)
    left = ", ".join(redaction.shown(entry.student) for entry in compared.left_out)
    print(f"{len(compared.graded)} submissions by stock nbgrader in {compared.seconds:.0f} s, "
          f"{len(compared.differences)} differences")  # fmt: skip
    print(f"given up on: {', '.join(sorted(stock.GIVEN_UP))}")
    print(f"not handed in to it: {left}")
    print("\n".join(compared.differences))
    return 1 if compared.differences else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
