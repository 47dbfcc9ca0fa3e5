"""nbgrader's formgrader with a link to the class reports: a server extension in its place."""

from __future__ import annotations

import html

from jinja2 import ChoiceLoader, FileSystemLoader, PrefixLoader
from jupyter_server.base.handlers import JupyterHandler
from jupyter_server.utils import url_path_join
from nbgrader.server_extensions import formgrader
from tornado import web

from grader.paths import GRADES
from grader.plugins.exporters import FormgradeExporter
from grader.reports.html import TEMPLATES

_TEMPLATES = TEMPLATES / "formgrader"
_NONE = "<p>No class has been graded here yet: run <code>distlab grade LAB</code>.</p>"


class Reports(JupyterHandler):
    """The reports that `distlab grade` has written, or one of them."""

    @web.authenticated
    def get(self, assignment: str = "") -> None:
        written = {path.stem: path for path in sorted((GRADES / "out").glob("*.html"))}
        if assignment in written:
            self.finish(written[assignment].read_text("utf-8"))
        elif assignment:
            raise web.HTTPError(404)
        else:
            links = [f'<li><a href="reports/{html.escape(name)}">{html.escape(name)}</a>'
                     for name in written]  # fmt: skip
            self.finish(
                "<!doctype html><title>Reports on the class</title><h1>Reports on the class</h1>"
                + (f"<ul>{''.join(links)}</ul>" if links else _NONE)
            )


def _load_jupyter_server_extension(app) -> None:
    base = app.web_app.settings["base_url"]
    path = url_path_join(base, "formgrader", "reports")
    app.web_app.add_handlers(".*$", [(path, Reports), (path + r"/([\w.-]+)", Reports)])
    formgrader.load_jupyter_server_extension(app)
    app.web_app.settings["nbgrader_exporter"] = FormgradeExporter()
    # our templates stand before the formgrader's, which they extend
    templates = app.web_app.settings["nbgrader_jinja2_env"]
    theirs = templates.loader
    templates.loader = ChoiceLoader(
        [FileSystemLoader(_TEMPLATES), PrefixLoader({"nbgrader": theirs}), theirs]
    )
