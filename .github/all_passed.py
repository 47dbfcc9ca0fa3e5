"""Ends with 1 unless every exercise of a report (`distlab check --json`) has passed."""

import json
import sys
from pathlib import Path

(submission,) = json.loads(Path(sys.argv[1]).read_text("utf-8"))["submissions"]
failed = [one for one in submission["exercises"] if one["status"] != "passed"]
for one in failed:
    print(f"{one['name']}: {one['status']}")
sys.exit(bool(failed))
