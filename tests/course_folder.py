"""A course in a folder of its own, with everything that grading writes."""

import contextlib
import hashlib
import os
import re
import subprocess
import sys

from nbgrader.api import Gradebook as Database

from distlab.course import notebook_name
from grader import collected, coursedir

LAB = "01-message-passing"
POLICY = """
timezone: Europe/Berlin
free_late_days: 1
late: {{penalty: 10%}}
partial: {{cases: {cases}}}
labs:
  01-message-passing: {{due: {due}}}
  02-toy-model: {{due: 2026-11-08 23:59}}
"""


class Course:
    """A folder with grades, and a policy; commands are started as a user starts them."""

    def __init__(self, grades):
        self.grades = grades

    def write_policy(self, due="2026-11-01 23:59", cases="none"):
        (self.grades / "policy.yaml").write_text(POLICY.format(due=due, cases=cases))

    def hand_in(self, student, lab, content, when):
        collected.hand_in(self.grades, student, lab, content)
        folder = self.grades / "submitted" / student / lab
        (folder / "timestamp.txt").write_text(f"{when}.000000 UTC")

    def started(self, *words):
        policy = self.grades / "policy.yaml"
        env = {
            **os.environ, "DISTLAB_GRADES": str(self.grades),
            "DISTLAB_POLICY": str(policy) if policy.exists() else "none",
            "DISTLAB_EXCHANGE": str(self.grades / "exchange"),
        }  # fmt: skip
        return subprocess.Popen(
            [sys.executable, "-m", *words], cwd=coursedir.ROOT, env=env, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self, *words, status=0):
        with self.started(*words) as process:
            try:
                said = process.communicate(timeout=300)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
        assert process.returncode == status, "".join(said)
        return subprocess.CompletedProcess(words, status, *said)

    @contextlib.contextmanager
    def book(self):
        with Database(f"sqlite:///{self.grades}/gradebook.db") as book:
            yield book

    def row(self, student, lab=LAB):
        """(points, penalty, hours of the extension) as nbgrader's gradebook has them."""
        with self.book() as book:
            found = book.find_submission(lab, student)
            hours = found.extension and found.extension.total_seconds() / 3600
            return found.score, found.late_submission_penalty, hours

    def said(self, student, lab=LAB):
        page = notebook_name(lab).replace(".ipynb", ".html")
        text = (self.grades / "feedback" / student / lab / page).read_text()
        return re.search(r'<p class="policy">(.*)</p>', text)[1]

    def bytes(self):
        return {
            path: hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(self.grades.rglob("*")) if path.is_file()
        }  # fmt: skip
