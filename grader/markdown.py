"""Markdown that strangers wrote, as HTML that does nothing: no script, no frame, nothing fetched.

`nbgrader_config.py` puts `to_html` where nbconvert's own filter was, so that the formgrader's pages
are as harmless as the feedback pages.
"""

from __future__ import annotations

import functools
import re
import secrets
from xml.etree import ElementTree

import bleach
from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

LIMIT = 10_000  # characters; parsers of Markdown and HTML are quadratic on what is made for that
FORMULA_LIMIT = 1_000
_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "q", "s",
    "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr",
    "u", "ul",
}  # fmt: skip
_ATTRIBUTES = {"title", "align", "colspan", "rowspan", "start"}
_LINK = re.compile(r"(https?://|mailto:)", re.I)
_IMAGE = re.compile(r"data:image/(png|jpeg|gif|webp);base64,", re.I)
_HIGHLIGHT = re.compile(r"highlight|[a-z][a-z0-9]{0,2}")  # Pygments' own classes
_ELEMENT = r'<[^<>"]*(?:"[^"]*"[^<>"]*)*>'  # as bleach writes them
_MATHML = "{http://www.w3.org/1998/Math/MathML}"
_MATH_TAGS = {
    "math", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot", "mrow", "ms",
    "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable", "mtd", "mtext", "mtr",
    "munder", "munderover", "menclose",
}  # fmt: skip
_MATH_ATTRIBUTES = {
    "accent", "columnalign", "display", "displaystyle", "fence", "linethickness", "maxsize",
    "mathvariant", "minsize", "movablelimits", "notation", "scriptlevel", "separator", "stretchy",
    "symmetric", "width", "form", "lspace", "rspace",
}  # fmt: skip


def to_html(source: str) -> Markup:
    """Markdown as HTML with a few harmless elements; all others are shown as they were written.

    What is too long, or breaks the parser, is shown as it is.
    """
    return _rendered(str(source))


@functools.lru_cache(maxsize=256)  # the course's own cells stand on every student's page
def _rendered(source: str) -> Markup:
    if len(source) > LIMIT:
        return _plain(source, f"… {len(source) - LIMIT} more characters")
    renderer = _Renderer()
    try:
        rendered = MarkdownWithMath(renderer=renderer).render(source)
        cleaned = bleach.clean(
            rendered, tags=_TAGS, attributes=_allowed, protocols={"http", "https", "mailto", "data"}
        )
    except Exception:  # whatever a parser says to what was written to break it
        return _plain(source)
    return Markup(renderer.put_formulas(cleaned))


def _plain(source: str, more: str = "") -> Markup:
    return Markup("<pre>{}{}</pre>").format(source[:LIMIT], more)


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "a" and name == "href":
        return bool(_LINK.match(value))
    if name == "class":
        return tag in ("div", "span") and bool(_HIGHLIGHT.fullmatch(value))
    if tag == "img":
        return name == "alt" or (name == "src" and bool(_IMAGE.match(value)))
    return name in _ATTRIBUTES


class _Renderer(IPythonRenderer):
    """Leaves a mark where a formula goes; its MathML is put there when the rest is clean."""

    def __init__(self) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self._mark = f"formula{secrets.token_hex(8)}"  # that nobody can write beforehand
        self._formulas: list[Markup] = []

    def put_formulas(self, html: str) -> str:
        """Clean HTML with the formulas in its text; none goes into an attribute."""
        mark = rf"{self._mark}-(\d+)-"

        def put(found: re.Match) -> str:
            if found[1] is None:
                return re.sub(mark, "", found[0])
            return self._formulas[int(found[1])]

        return re.sub(f"{_ELEMENT}|{mark}", put, html)

    def _formula(self, tex: str, display: str) -> str:
        self._formulas.append(formula(tex, display))
        return f"{self._mark}-{len(self._formulas) - 1}-"

    def inline_math(self, body: str) -> str:
        return self._formula(body, "inline")

    def block_math(self, body: str) -> str:
        return self._formula(body, "block")

    def multiline_math(self, text: str) -> str:
        return self._formula(text, "block")

    def latex_environment(self, name: str, body: str) -> str:
        return self._formula(rf"\begin{{{name}}}{body}\end{{{name}}}", "block")


def formula(tex: str, display: str = "inline") -> Markup:
    """TeX as MathML, which browsers show without a script; else the TeX itself."""
    from latex2mathml.converter import convert

    try:
        if len(tex) > FORMULA_LIMIT:
            raise ValueError("too long")
        tree = ElementTree.fromstring(convert(tex.strip().strip("$"), display=display))
        return Markup(_mathml(tree))
    except Exception:  # no TeX that the converter knows, or what it made of it is no MathML
        return Markup("<code>{}</code>").format(tex)


def _mathml(element: ElementTree.Element) -> str:
    """The element with what MathML needs alone: the converter passes on whatever it was given."""
    name = element.tag.removeprefix(_MATHML)
    if name not in _MATH_TAGS:
        raise ValueError(name)
    attributes = "".join(
        f' {key}="{escape(value)}"' for key, value in element.items() if key in _MATH_ATTRIBUTES
    )
    inside = escape(element.text or "") + Markup("").join(
        Markup(_mathml(child)) + escape(child.tail or "") for child in element
    )
    return f"<{name}{attributes}>{inside}</{name}>"
