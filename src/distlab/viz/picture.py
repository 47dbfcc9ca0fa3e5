"""A picture that shows itself in a notebook, in a terminal and in a file.

The SVG stands in the page, so that it takes the page's colours and shows what the pointer rests on
without a script. A small script adds zooming; where scripts are stripped the picture stays.
"""

from __future__ import annotations

import hashlib
from html import escape
from pathlib import Path

from distlab.viz.svg import clean, hover, number, printable, tag

_STYLE = """
#{id}{{font:11px system-ui,"Segoe UI","DejaVu Sans",sans-serif;fill:currentColor}}
#{id} .c{{stroke:currentColor;stroke-width:3;stroke-opacity:.45;fill:none}}
#{id} .b{{fill-opacity:.2}}
#{id} .k{{fill-opacity:.4}}
#{id} .p{{fill:#56B4E9;stroke:#1A83C6}}
#{id} .m:hover path{{stroke-width:3.5}}
#{id} .b:hover{{fill-opacity:.5}}
"""
# a file of its own has no page to take its colours from
_ALONE = """
#{id}{{color:#222}}
@media (prefers-color-scheme:dark){{#{id}{{color:#ddd}}}}
"""
# Ctrl and the wheel zoom, dragging moves, a double click shows all again
_SCRIPT = """
for (const s of document.querySelectorAll('svg[id="{id}"]')) {{
  if (s.dataset.live) continue;
  s.dataset.live = 1;
  const w = s.viewBox.baseVal.width, h = s.viewBox.baseVal.height;
  const zoom = () => w / s.viewBox.baseVal.width;
  const show = (x, y, k) => {{
    x = Math.max(0, Math.min(w - w / k, x));
    y = Math.max(0, Math.min(h - h / k, y));
    s.setAttribute('viewBox', [x, y, w / k, h / k].join(' '));
    s.style.cursor = k > 1 ? 'grab' : '';
  }};
  s.addEventListener('wheel', e => {{
    if (!e.ctrlKey && !e.metaKey) return;
    e.preventDefault();
    const r = s.getBoundingClientRect(), b = s.viewBox.baseVal;
    const u = (e.clientX - r.left) / r.width, v = (e.clientY - r.top) / r.height;
    const k = Math.max(1, Math.min(40, zoom() * Math.exp(-e.deltaY / 300)));
    show(b.x + u * (b.width - w / k), b.y + v * (b.height - h / k), k);
  }}, {{passive: false}});
  s.addEventListener('pointermove', e => {{
    if (!(e.buttons & 1) || zoom() <= 1) return;
    const r = s.getBoundingClientRect(), b = s.viewBox.baseVal;
    show(b.x - e.movementX * b.width / r.width, b.y - e.movementY * b.height / r.height, zoom());
  }});
  s.addEventListener('dblclick', () => show(0, 0, 1));
}}
"""


def target(path: str | Path) -> Path:
    """A file to write.

    Raises:
        FileNotFoundError: its folder is not there.
    """
    path = Path(path)
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"the folder {path.parent} is not there: make it, or name another file"
        )
    return path


def page(title: str | None, content: str) -> str:
    """A whole page of this HTML."""
    title = escape(printable(title or "A run on distlab"))
    hidden = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width"><title>{title}</title>'
        f"<style>:root{{color-scheme:light dark}}body{{margin:1rem}}h1{{{hidden}}}</style>"
        f"<body><main><h1>{title}</h1>{content}</main></body></html>\n"
    )


class Picture:
    """What pictures have in common; a kind of picture says what it draws."""

    title: str | None
    width: float

    @property
    def summary(self) -> str:
        """The picture in a sentence or two, for those who can't see it."""
        raise NotImplementedError

    def _draw(self, name: str) -> tuple[str, float]:
        """SVG content whose ids begin with `name`, and its height in pixels."""
        raise NotImplementedError

    def _content(self) -> str:
        """What tells this picture from others: the same content gets the same ids."""
        raise NotImplementedError

    def text(self, width: int = 80) -> str:
        """The picture in characters, `width` a line."""
        raise NotImplementedError

    def _name(self) -> str:
        words = f"{self.title} {self.width} {self._content()}".encode("utf-8", "replace")
        return "t" + hashlib.blake2s(words, digest_size=5).hexdigest()

    def svg(self, alone: bool = True) -> str:
        """The picture as SVG.

        Args:
            alone: with colours of its own for light and dark readers, as a file needs them.
                Otherwise text has the colour of the page around it.
        """
        name = self._name()
        body, height = self._draw(name)
        first, label = self.title or type(self).__name__.lower(), self.summary
        # in a narrower window than that a page scrolls it: smaller letters can't be read
        least = "" if alone else f"min-width:{number(0.8 * self.width)}px;"
        style = (_STYLE + (_ALONE if alone else "")).format(id=name)
        return tag(
            "svg", tag("style", style.strip()), hover(first), tag("desc", clean(label)), body,
            xmlns="http://www.w3.org/2000/svg", id=name, role="img",
            aria_label=f"{first}: {label}",
            width=number(self.width), height=number(height),
            viewBox=f"0 0 {number(self.width)} {number(height)}",
            style=f"max-width:100%;{least}height:auto",
        )  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the picture to `path`, as .svg or .html.

        Raises:
            ValueError: another kind of file.
            FileNotFoundError: the folder is not there.
        """
        path = target(path)
        if path.suffix == ".svg":
            content = self.svg()
        elif path.suffix in (".html", ".htm"):
            content = page(self.title, self._repr_html_())
        else:
            raise ValueError(f"{path.name}: a picture is saved as .svg or .html")
        path.write_text(content, encoding="utf-8")
        return path

    def _repr_html_(self) -> str:
        script = tag("script", _SCRIPT.format(id=self._name()))
        return f'<div style="overflow-x:auto">{self.svg(alone=False)}</div>{script}'

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        # no image/svg+xml: it would double each notebook, and pages would ignore it for the HTML
        return {"text/html": self._repr_html_(), "text/plain": self.text()}

    def __repr__(self) -> str:
        return self.text()
