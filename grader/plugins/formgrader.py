"""nbgrader's formgrader with a link to the class reports: a server extension in its place."""

from __future__ import annotations

from jinja2 import ChoiceLoader, DictLoader, PrefixLoader
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from nbgrader.server_extensions import formgrader
from tornado import web

from distlab import course
from grader.paths import GRADES
from grader.plugins.exporters import FormgradeExporter
from grader.reports import html

#: nbgrader's pages with a sidebar, which get a line more
_PAGES = (
    "manage_assignments.tpl", "manage_submissions.tpl", "gradebook_base.tpl",
    "manage_students_base.tpl",
)  # fmt: skip
_WITH_REPORTS = """{%- extends 'nbgrader/NAME' -%}
{%- block sidebar -%}
{{ super() }}
<li role="presentation"><a href="{{ base_url }}/formgrader/reports">Reports on the class</a></li>
{%- endblock -%}
"""


class _Page(JupyterHandler):
    @property
    def content_security_policy(self) -> str:
        """As the pages' own: on them is what strangers wrote."""
        ours = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'"
        return f"{super().content_security_policy}; {ours}"


class Reports(_Page):
    """The reports that `distlab grade` has written, or one of them, or its table."""

    @web.authenticated
    def get(self, name: str = "") -> None:
        written = {path.name: path for path in sorted((GRADES / "out").glob("*.*"))}
        if not name:
            pages = [path.stem for path in written.values() if path.suffix == ".html"]
            self.finish(html.render("reports.html.j2", pages=pages))
        elif page := written.get(f"{name}.html"):
            self.finish(page.read_text("utf-8"))
        elif name.endswith(".csv") and name in written:
            self.set_header("Content-Type", "text/csv; charset=utf-8")
            self.set_header("Content-Disposition", "attachment")
            self.finish(written[name].read_bytes())
        else:
            raise web.HTTPError(404)


class Feedback(_Page):
    """A student's feedback page, which a report links to: never a file that came with one."""

    @web.authenticated
    def get(self, student: str, lab: str) -> None:
        folder = GRADES / "feedback" / student / lab
        page = (folder / course.notebook_name(lab)).with_suffix(".html")
        if lab not in course.LABS or student in ("", ".", "..") or "/" in student:
            raise web.HTTPError(404)
        if page.is_symlink() or not page.is_file():
            raise web.HTTPError(404)
        self.finish(page.read_text("utf-8"))


def _load_jupyter_server_extension(app) -> None:
    reports, feedback = (
        url_path_join(app.web_app.settings["base_url"], "formgrader", name)
        for name in ("reports", "feedback")
    )
    of_student = rf"{feedback}/([^/]+)/(\d+-[\w-]+)/\w+\.html"
    app.web_app.add_handlers(
        ".*$", [(reports, Reports), (rf"{reports}/([\w.-]+)", Reports), (of_student, Feedback)]
    )
    formgrader.load_jupyter_server_extension(app)
    app.web_app.settings["nbgrader_exporter"] = FormgradeExporter()
    # our templates stand before the formgrader's, which they extend
    templates = app.web_app.settings["nbgrader_jinja2_env"]
    theirs, ours = templates.loader, {name: _WITH_REPORTS.replace("NAME", name) for name in _PAGES}
    templates.loader = ChoiceLoader([DictLoader(ours), PrefixLoader({"nbgrader": theirs}), theirs])
