"""Markdown that strangers wrote, as harmless HTML: no script, no frame, nothing fetched.

`nbgrader_config.py` puts `to_html` in place of nbconvert's own filter, so that the formgrader's
pages are as harmless as the feedback pages.
"""

from __future__ import annotations

import functools
import re
import secrets
from xml.etree import ElementTree

import bleach
from markupsafe import Markup, escape
from nbconvert.filters.markdown_mistune import (
    IPythonRenderer,
    MarkdownWithMath,
    MathBlockParser,
    MathInlineParser,
)

from distlab.records import redaction

LIMIT = 10_000  # characters
FORMULA_LIMIT = 1_000
MOST_TABLES = 20  # at each line that might begin a table the parser reads all rows after it
DEEPEST = 50  # nested elements; an HTML parser's time is quadratic in those that are not closed
_TAGS = {
    "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em",
    "h1", "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "ol", "p", "pre", "q", "s",
    "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr",
    "u", "ul",
}  # fmt: skip
#: those that stay open until their own end tag
_NESTING = _TAGS - {"br", "dd", "dt", "hr", "img", "li", "p", "tbody", "td", "th", "thead", "tr"}
_NESTED = re.compile(rf"<(/?)(?:{'|'.join(sorted(_NESTING))})\b", re.I)
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
    """Markdown as HTML with a few harmless elements; all others appear as they were written.

    Text that is too long, or that breaks the parser, is shown unformatted. Characters that turn the
    direction of writing, by which code would look like other code, are shown as escapes.
    """
    return _rendered(redaction.visible_lines(str(source)))


def unchanged(html: str) -> str:
    """In place of nbconvert's `strip_files_prefix`, whose time is quadratic in a line's brackets.
    It has nothing to do: `to_html` leaves no links to files.
    """
    return html


@functools.lru_cache(maxsize=256)  # the course's own cells stand on every student's page
def _rendered(source: str) -> Markup:
    if len(source) > LIMIT:
        return _plain(source, f"… {len(source) - LIMIT} more characters")
    if _tables(source) > MOST_TABLES:
        return _plain(source)
    renderer = _Renderer()
    try:
        markdown = MarkdownWithMath(renderer=renderer, block=_Blocks(), inline=_Inline())
        rendered = markdown.render(source)
        if _depth(rendered) > DEEPEST:
            return _plain(source)
        cleaned = bleach.clean(
            rendered, tags=_TAGS, attributes=_allowed, protocols={"http", "https", "mailto", "data"}
        )
    except Exception:  # whatever a parser raises on input that was written to break it
        return _plain(source)
    cleaned = cleaned.replace("<th></th>", "<td></td>")  # which heads nothing
    return Markup(redaction.visible(renderer.put_formulas(cleaned)))  # entities are read by now


def _plain(source: str, more: str = "") -> Markup:
    return Markup("<pre>{}{}</pre>").format(source[:LIMIT], more)


def _tables(source: str) -> int:
    """How many lines could be the one below a table's header, in lists and quotes too."""
    lines = (line for line in source.splitlines() if "|" in line and "-" in line)
    return sum(not line.strip("|:- \t>*+.0123456789") for line in lines)


def _depth(html: str) -> int:
    """How deep elements are nested; those that are never closed stay open to the end."""
    depth = deepest = 0
    for end in _NESTED.findall(html):
        depth += -1 if end else 1
        deepest = max(deepest, depth)
    return deepest


def _allowed(tag: str, name: str, value: str) -> bool:
    if tag == "a" and name == "href":
        return bool(_LINK.match(value))
    if name == "class":
        return tag in ("div", "span") and bool(_HIGHLIGHT.fullmatch(value))
    if tag == "img":
        return name == "alt" or (name == "src" and bool(_IMAGE.match(value)))
    return name in _ATTRIBUTES


def _bounded(rules: dict[str, str]) -> dict[str, str]:
    """The rules for formulas, with a limit: else the end of each is looked for in all the text."""
    return {
        name: rule.replace(".*?", f".{{0,{FORMULA_LIMIT}}}?").replace(
            ".+?", f".{{1,{FORMULA_LIMIT}}}?"
        )
        for name, rule in rules.items()
        if "math" in name or "latex" in name
    }


class _Blocks(MathBlockParser):
    SPECIFICATION = {
        **MathBlockParser.SPECIFICATION, **_bounded(MathBlockParser.SPECIFICATION)
    }  # fmt: skip


class _Inline(MathInlineParser):
    SPECIFICATION = {
        **MathInlineParser.SPECIFICATION, **_bounded(MathInlineParser.SPECIFICATION)
    }  # fmt: skip


class _Renderer(IPythonRenderer):
    """Leaves a mark for each formula, to be replaced by its MathML once the rest is cleaned."""

    def __init__(self) -> None:
        super().__init__(escape=False, exclude_anchor_links=True)
        self._mark = f"formula{secrets.token_hex(8)}"  # which nobody can guess
        self._formulas: list[Markup] = []

    def put_formulas(self, html: str) -> str:
        """Cleaned HTML with the formulas put into its text, and never into an attribute."""
        mark = rf"{self._mark}-(\d+)-"

        def put(found: re.Match[str]) -> str:
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
    """TeX as MathML, which browsers show without a script; if that fails, the TeX itself."""
    from latex2mathml.converter import convert

    try:
        if len(tex) > FORMULA_LIMIT:
            raise ValueError("too long")
        tree = ElementTree.fromstring(convert(tex.strip().strip("$"), display=display))
        return Markup(_mathml(tree))
    except Exception:  # TeX that the converter does not know, or output that is not MathML
        return Markup("<code>{}</code>").format(tex)


def _mathml(element: ElementTree.Element) -> str:
    """The element with nothing but MathML: the converter passes on whatever it was given."""
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
