"""The formgrader's page of one submission, by nbgrader's template, with its buttons and fields."""

from __future__ import annotations

import functools
from typing import Any

import nbformat
from markupsafe import Markup
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbconvert.filters.widgetsdatatypefilter import WidgetsDataTypeFilter
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config.loader import PyFileConfigLoader

from distlab.records import redaction
from grader.paths import ROOT


def page(path: str, resources: dict[str, Any], why: str = "") -> str:
    """The page of an autograded notebook.

    Args:
        resources: what the template asks for.
        why: the reason why nothing is to be coloured or formatted; empty if all is.
    """
    nb = nbformat.read(path, as_version=4)
    if why:
        said = f"This page is shown without colours and formatting, because {why}."
        nb.cells.insert(0, nbformat.v4.new_markdown_cell(said))
    return _exporter(bool(why)).from_notebook_node(nb, resources=resources)[0]


class _Exporter(HTMLExporter):
    """nbconvert's own without its last step, which parses the whole page once more for marks that
    this template does not use. That takes most of the time, and a hundred times the page's memory.
    """

    def from_notebook_node(self, nb, resources=None, **kw):
        resources = self._init_resources(resources)
        data_types = WidgetsDataTypeFilter(
            notebook_metadata=self._nb_metadata, parent=self, resources=resources
        )
        self.register_filter("filter_data_type", data_types)
        return TemplateExporter.from_notebook_node(self, nb, resources, **kw)


@functools.cache
def _exporter(plain: bool) -> HTMLExporter:
    config = PyFileConfigLoader("nbgrader_config.py", path=str(ROOT)).load_config()
    config.HTMLExporter.template_name = "formgrade"
    config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
    if plain:
        shown = dict.fromkeys(("markdown2html", "highlight_code", "ansi2html"), _as_it_is)
        config.HTMLExporter.filters = {**config.HTMLExporter.filters, **shown}
    return _Exporter(config=config)


def _as_it_is(source: str, *args: Any, **kw: Any) -> Markup:
    return Markup("<pre>{}</pre>").format(redaction.visible_lines(source))
