"""A run's picture in the outputs of an autograded notebook."""

from __future__ import annotations

import base64
import re

_QUOTED = r"""("[^"]*"|'[^']*')"""  # an attribute's value
_WORDS = re.compile(f"<svg [^>]*?aria-label={_QUOTED}")
_IMAGE = re.compile(
    rf'<img style="border:0" alt={_QUOTED} src="data:image/svg\+xml;base64,([\w+/=]+)">'
)


def image(svg: str) -> str:
    """The picture as an image, in which nothing could run in the formgrader, with its own words for
    those who can't see it.
    """
    words = _WORDS.match(svg)
    source = base64.b64encode(svg.encode()).decode()
    alt = words[1] if words else '""'
    # without the red frame that the formgrader gives all images
    return f'<img style="border:0" alt={alt} src="data:image/svg+xml;base64,{source}">'


def svg_of(data: dict[str, str]) -> str:
    """The picture that an output's data hold; empty where they hold none."""
    found = _IMAGE.fullmatch(data.get("text/html", ""))
    if found is None:
        return data.get("image/svg+xml", "")  # autograded by an earlier version
    return base64.b64decode(found[2]).decode()
