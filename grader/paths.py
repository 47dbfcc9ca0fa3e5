"""Where the course and what grading writes lie. Imports nothing: `distlab info` asks too."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOLUTIONS = ROOT / "solutions"
LABS = ROOT / "labs"
REFERENCE = ROOT / "grader" / "reference"  # of hidden cases, with the public secret
#: where submissions, gradebook, ledger, feedback and tables lie; DISTLAB_GRADES puts them elsewhere
GRADES = Path(os.environ.get("DISTLAB_GRADES") or ROOT / "grader").resolve()
