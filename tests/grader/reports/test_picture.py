"""A picture goes into an output as an image, and comes out as it was."""

import re
from html import unescape

import pytest

from distlab.viz.svg import tag
from grader.reports import picture

SVG = '<svg aria-label="rank 0 &lt; rank 1 &quot;waits&quot;"><text>ä</text></svg>'


def test_an_image_says_what_the_picture_says_and_holds_all_of_it():
    shown = picture.image(SVG)
    assert ' alt="rank 0 &lt; rank 1 &quot;waits&quot;" src="data:image/svg' in shown
    assert "<svg" not in shown
    assert picture.svg_of({"text/html": shown}) == SVG


@pytest.mark.parametrize("said", ["it's", 'a "word"', 'it\'s a "word"', "' onerror='1", "<b>"])
def test_an_image_says_all_words_however_they_are_quoted(said):
    svg = tag("svg", tag("text", 'aria-label="else"'), aria_label=said, width=3.0)
    shown = picture.image(svg)
    alt = re.search(r"""alt=(?:"([^"]*)"|'([^']*)') src""", shown)
    assert unescape(alt[1] or alt[2]) == said and picture.svg_of({"text/html": shown}) == svg


def test_pictures_of_earlier_versions_are_found_and_what_is_none_is_not():
    assert picture.svg_of({"image/svg+xml": SVG}) == SVG
    assert picture.svg_of({"text/html": "<p>else</p>"}) == "" == picture.svg_of({})
