"""What stands in an SVG is XML, whatever a text holds."""

from xml.etree import ElementTree

import pytest

from distlab.viz.svg import clean, printable, tag, text


def test_every_character_that_xml_knows_is_kept_and_no_other():
    every = [chr(code) for code in range(0x20000)]
    kept = [
        c
        for c in every
        if c in "\t\n" or (c >= " " and not "\ud800" <= c <= "\udfff" and c not in "\ufffe\uffff")
    ]
    assert printable("".join(every)) == "".join(kept)


@pytest.mark.parametrize(
    "content",
    ["plain", "a<b & 'c' > \"d\"", "two\nlines\tand\ttabs", "é × µ – \U0001f600", "%(x)s"],
)
def test_a_text_comes_back_out_of_content_and_attributes(content):
    root = ElementTree.fromstring(tag("g", clean(content), data_told=content, x=1.25, y=3.0))
    assert root.text == content
    assert root.attrib == {"data-told": content, "x": "1.2", "y": "3"}


def test_what_no_xml_may_hold_is_left_out_of_attributes_too():
    bad = "a\x00b\x1b\ud800c\r"
    assert ElementTree.fromstring(tag("g", data_told=bad)).attrib == {"data-told": "abc"}
    assert ElementTree.fromstring(text(0, 0, bad)).text == "abc"
    assert tag("g", class_=None) == "<g/>"
