"""Grade the hostile class and print what each tried and what happened."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from hostile import trial  # noqa: E402


def main(names: list[str]) -> int:
    graded = trial.run(names or None)
    found = trial.findings(graded)
    print(trial.table(graded))
    print(f"\n{len(graded.entries)} submissions in {graded.seconds:.0f} s, {len(found)} findings")
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
