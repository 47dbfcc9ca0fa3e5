"""Lists of labs and submissions, for Assignment List, the formgrader and `nbgrader list`."""

from __future__ import annotations

import os
from http import HTTPStatus
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import ExchangeList

from distlab.exchange import manifest as manifests
from distlab.exchange.base import HTTPExchange
from distlab.exchange.client import Client, ExchangeFailed

#: seconds; an instructor's pages ask each time, also when the exchange is not there
PATIENCE = 5.0


class List(HTTPExchange, ExchangeList):
    """nbgrader's list, from the exchange's service."""

    def init_dest(self) -> None:
        """Nothing to do: `parse_assignments` asks the service."""

    def parse_assignments(self) -> list[dict[str, Any]]:
        """Labs, or submissions, in nbgrader's form."""
        with self.service(min(PATIENCE, self.patience)) as client:
            if self.inbound or self.cached:
                return self._grouped(self._submitted(client))
            labs = [lab for lab in client.labs() if self._is_asked_for(lab)]
            # Assignment List asks often: own inputs may have been made since the lab was fetched
            for course in sorted({str(lab["course"]) for lab in labs}):
                self.keep_own_inputs(client, course)
            return [self._released(lab) for lab in labs]

    def remove_files(self) -> list[dict[str, Any]]:
        """Hand labs out no longer. What was handed in stays."""
        if self.inbound or self.cached:
            self.fail("what was handed in stays in the exchange")
        assignments = self.parse_assignments()
        with self.service() as client:
            for one in assignments:
                client.withdraw(one["course_id"], one["assignment_id"])
                self.log.info("Removed: %s %s", one["course_id"], one["assignment_id"])
        return assignments

    def _is_asked_for(self, one: dict[str, Any]) -> bool:
        asked = (
            (self.coursedir.course_id, one["course"]),
            (self.coursedir.assignment_id, one["lab"]),
            (self.coursedir.student_id if self.inbound else "", one.get("student")),
        )
        return all(wanted in ("", "*", there) for wanted, there in asked)

    def _local(self, one: dict[str, Any]) -> str:
        """The student's own folder of a lab."""
        course = [one["course"]] if self.path_includes_course else []
        return str(Path(self.assignment_dir, *course, one["lab"]))

    def _released(self, one: dict[str, Any]) -> dict[str, Any]:
        folder = self._local(one)
        there = os.path.exists(folder)
        names = sorted(path.stem for path in Path(folder).glob("*.ipynb")) if there else []
        status = "fetched" if there else "released"
        return {
            "course_id": one["course"], "assignment_id": one["lab"],
            "status": "removed" if self.remove else status,
            "path": os.path.abspath(folder) if there else "",
            "notebooks": [
                {"notebook_id": name, "path": os.path.abspath(f"{folder}/{name}.ipynb")}
                for name in (names if there else one["notebooks"])
            ],
        }  # fmt: skip

    def _submitted(self, client: Client) -> list[dict[str, Any]]:
        course = str(self.coursedir.course_id or "")
        if self.inbound and course:
            try:
                everybody = client.submissions(course, everybody=True)
                return [self._submission(one) for one in everybody if self._is_asked_for(one)]
            except ExchangeFailed as error:
                if error.status != HTTPStatus.FORBIDDEN:
                    raise
        return [self._submission(o) for o in client.submissions(course) if self._is_asked_for(o)]

    def _submission(self, one: dict[str, Any]) -> dict[str, Any]:
        folder = os.path.join(os.path.abspath(self._local(one)), "feedback", one["when"])
        notebooks = [
            self._notebook(name, folder, one.get("feedback", {}).get(name))
            for name in one.get("notebooks", ())
        ]
        fetched = bool(notebooks) and all(each["has_local_feedback"] for each in notebooks)
        return {
            "course_id": one["course"], "student_id": one["student"], "assignment_id": one["lab"],
            "timestamp": one["when"], "status": "submitted", "path": one["name"],
            "notebooks": notebooks, "has_local_feedback": fetched,
            "has_exchange_feedback":
                bool(notebooks) and all(each["has_exchange_feedback"] for each in notebooks),
            "feedback_updated": any(each["feedback_updated"] for each in notebooks),
            "local_feedback_path": folder if fetched else None,
        }  # fmt: skip

    @staticmethod
    def _notebook(name: str, folder: str, page: dict[str, Any] | None) -> dict[str, Any]:
        local = Path(folder, f"{name}.html")
        there = local.is_file()
        return {
            "notebook_id": name, "path": f"{name}.ipynb", "has_local_feedback": there,
            "has_exchange_feedback": page is not None,
            "local_feedback_path": str(local) if there else None,
            "feedback_updated":
                there and page is not None and manifests.sha256(local) != page["sha256"],
        }  # fmt: skip

    @staticmethod
    def _grouped(submissions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """An entry for each student's lab, with its submissions in the order of their times."""
        groups: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for one in sorted(submissions, key=lambda one: str(one["timestamp"])):
            whose = (one["course_id"], one["student_id"], one["assignment_id"])
            groups.setdefault(whose, []).append(one)
        return [
            {
                "course_id": course, "student_id": student, "assignment_id": lab,
                "status": "submitted", "submissions": found,
            }
            for (course, student, lab), found in sorted(groups.items())
        ]  # fmt: skip
