"""The cell with due date and rules at the top of a notebook that is handed out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from grader.policy import telling
from grader.policy.rules import Policy

CELL = "course-policy"  # the cell's id and, for formats that have none, its tag


def put(notebook: dict[str, Any], policy: Policy, lab: str) -> dict[str, Any]:
    """A notebook with the notice at its top, or without one where there is nothing to say."""
    said = list(telling.rules(policy, lab)) if policy.in_force else []
    rest = [cell for cell in notebook["cells"] if not is_notice(cell)]
    if not said:
        return {**notebook, "cells": rest}
    cell = {
        "cell_type": "markdown", "id": CELL, 
        "metadata": {"deletable": False, "editable": False, "tags": [CELL]},
        "source": "\n".join(f"> {one}  " for one in said),
    }  # fmt: skip
    return {**notebook, "cells": [cell, *rest]}


def is_notice(cell: Any) -> bool:
    """Is this cell the notice? No student's answer is in it."""
    if not isinstance(cell, Mapping) or cell.get("cell_type") != "markdown":
        return False
    metadata = cell.get("metadata")
    tags = metadata.get("tags") if isinstance(metadata, Mapping) else None
    return cell.get("id") == CELL or (isinstance(tags, list) and CELL in tags)
