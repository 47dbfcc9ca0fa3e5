"""A picture goes into an output as an image, and comes out as it was."""

from grader.reports import picture

SVG = '<svg aria-label="rank 0 &lt; rank 1 &quot;waits&quot;"><text>ä</text></svg>'


def test_an_image_says_what_the_picture_says_and_holds_all_of_it():
    shown = picture.image(SVG)
    assert ' alt="rank 0 &lt; rank 1 &quot;waits&quot;" src="data:image/svg' in shown
    assert "<svg" not in shown
    assert picture.svg_of({"text/html": shown}) == SVG


def test_pictures_of_earlier_versions_are_found_and_what_is_none_is_not():
    assert picture.svg_of({"image/svg+xml": SVG}) == SVG
    assert picture.svg_of({"text/html": "<p>else</p>"}) == "" == picture.svg_of({})
