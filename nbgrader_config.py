"""nbgrader's own configuration of this course: `nbgrader autograde 01-message-passing` and the rest
work here.
"""

import os
import sys
from pathlib import Path

root = Path(__file__).resolve().parent
# a process may read this file for each submission: nothing is put into a path twice
if sys.path[:1] != [str(root)]:
    sys.path.insert(0, str(root))
# nbgrader starts alembic by its bare name, also when no environment is activated
programs = str(Path(sys.executable).parent)
others = os.environ.get("PATH", os.defpath)  # a supervisor may start this without one
if programs != others.split(os.pathsep)[0]:
    os.environ["PATH"] = os.pathsep.join([programs, others])

from grader.paths import GRADES  # noqa: E402

c = get_config()  # noqa: F821

c.CourseDirectory.root = str(root)
# a Hub says under which of its courses' names this folder goes
c.CourseDirectory.course_id = os.environ.get("DISTLAB_COURSE", "distlab")
c.CourseDirectory.source_directory = "solutions"
c.CourseDirectory.release_directory = "labs"
c.CourseDirectory.submitted_directory = str(GRADES / "submitted")
c.CourseDirectory.autograded_directory = str(GRADES / "autograded")
c.CourseDirectory.feedback_directory = str(GRADES / "feedback")
c.CourseDirectory.solution_directory = str(GRADES / "solution")
c.CourseDirectory.db_url = f"sqlite:///{GRADES}/gradebook.db"
c.CourseDirectory.ignore = [
    ".ipynb_checkpoints", "*.pyc", "__pycache__", "saved_models", "data", "*.tmp",
]  # fmt: skip

c.ClearSolutions.text_stub = "YOUR ANSWER HERE"

# strangers' code runs in this sandbox; `grader.sandbox.Grading` has the limits beside it. Another
# one is "apptainer exec --containall --net --network none course.sif", say
c.Grading.sandbox = "bwrap"
# hidden inputs are made from the secret in this file; without a line here it is the one that
# `distlab secret new` has put below this account's home, or else the public one
# c.Grading.secret = "/srv/course/secret"

# released labs are the same bytes each time they are generated
c.GenerateAssignment.preprocessors = [
    "nbgrader.preprocessors.IncludeHeaderFooter",
    "grader.plugins.preprocessors.Points",
    "nbgrader.preprocessors.LockCells",
    "grader.plugins.preprocessors.ClearSolutions",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.CheckCellMetadata",
    "nbgrader.preprocessors.ComputeChecksums",
    "grader.plugins.cells.SaveCells",
    "nbgrader.preprocessors.ClearHiddenTests",
    "nbgrader.preprocessors.ClearMarkScheme",
    "nbgrader.preprocessors.ComputeChecksums",
    "nbgrader.preprocessors.CheckCellMetadata",
]

if folder := os.environ.get("DISTLAB_EXCHANGE"):  # a Hub has one of its own
    c.Exchange.root = folder
# what students hand in on a machine that they share with the grader
c.ExchangeFactory.collect = "grader.plugins.collect.Collect"
# due dates and rules of policy.yaml stand in the notebooks that are handed out
c.ExchangeFactory.release_assignment = "grader.plugins.release.Release"
# a submission that was put there by hand does not stop the others' feedback
c.ExchangeFactory.release_feedback = "grader.plugins.release.ReleaseFeedback"

if os.environ.get("DISTLAB_EXCHANGE_URL"):  # or a service of the Hub's, where servers share no disk
    from distlab import exchange

    exchange.use(c)
    c.ExchangeFactory.release_assignment = "grader.plugins.release.ReleaseOverHTTP"

# Student code never runs in the process that grades: the referee's verdicts take the place of a
# kernel. nbgrader's CheckCellMetadata has nothing to find: of a submission `Rebuild` keeps no
# metadata, and the course's own are checked when a lab is generated.
c.Autograde.sanitize_preprocessors = [
    "grader.plugins.preprocessors.Rebuild",
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "grader.plugins.preprocessors.OverwriteCells",
]
c.Autograde.autograde_preprocessors = [
    "grader.plugins.preprocessors.Verdicts",
    "grader.plugins.preprocessors.SaveAutoGrades",
    "grader.plugins.preprocessors.AssignLatePenalties",
]

# notebooks are validated as they are read and when all steps are done, not after each step as well
c.Exporter.optimistic_validation = True

# feedback pages, and whatever of a submission an instructor's browser shows
c.GenerateFeedback.exporter_class = "grader.plugins.exporters.FeedbackExporter"
c.GenerateFeedback.preprocessors = ["grader.plugins.exporters.Grades"]
c.HTMLExporter.preprocessors = ["grader.plugins.exporters.Shortened"]
c.HTMLExporter.filters = {
    "markdown2html": "grader.reports.markdown.to_html",
    "highlight_code": "grader.reports.feedback.highlighted",
    "strip_files_prefix": "grader.reports.markdown.unchanged",
}
