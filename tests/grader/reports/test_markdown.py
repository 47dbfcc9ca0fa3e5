"""What strangers write in Markdown is shown and does nothing."""

import time

import harmless
import pytest
from bs4 import BeautifulSoup

from grader.reports import markdown


@pytest.mark.parametrize("source", harmless.PAYLOADS)
def test_nothing_of_it_runs_or_fetches(source):
    page = markdown.to_html(f"before\n\n{source}\n\nafter")
    assert harmless.harm(page) == []
    assert "before" in page


def test_without_cleaning_the_payloads_do_harm():
    from nbconvert.filters import markdown2html

    assert all(harmless.harm(markdown2html(p)) for p in harmless.PAYLOADS[:11])


def test_what_is_not_allowed_is_shown_as_it_was_written():
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in markdown.to_html("<script>alert(1)</script>")


def test_markdown_is_still_markdown():
    page = markdown.to_html("# A\n\n**b** `<c>` [d](https://d.invalid)\n\n| e |\n|---|\n| f |\n")
    for piece in ("<h1>A</h1>", "<strong>b</strong>", "<code>&lt;c&gt;</code>", "<td>f</td>"):
        assert piece in page
    assert '<a href="https://d.invalid">d</a>' in page


@pytest.mark.parametrize("turn", ["\u202e", "&#x202e;", "&#8238;", "<b>&#x202E;</b>"])
@pytest.mark.parametrize(
    "around", ["{} `code`", "```\ncode {}\n```", "| a |\n|---|\n| {} |", "$a{}$"]
)
def test_no_character_turns_the_direction_of_what_is_read(turn, around):
    shown = BeautifulSoup(markdown.to_html(around.format(turn)), "html.parser").get_text()
    assert "\u202e" not in shown


def test_an_image_in_the_text_itself_stays():
    image = "data:image/png;base64,iVBORw0KGgo="
    assert f'src="{image}"' in markdown.to_html(f"![x]({image})")


def test_formulas_become_mathml():
    page = markdown.to_html(r"it is $\frac{1}{n}\sum_i x_i < 2$, so")
    assert "<mfrac>" in page and "&lt;" in page and "$" not in page


@pytest.mark.parametrize("tex", [r"\frac", "{" * 900, r"\text{<b>}", "x" * 2000])
def test_what_is_no_formula_stays_tex(tex):
    assert markdown.formula(tex).startswith("<code>")


def test_of_what_is_too_long_the_beginning_is_shown_as_it_is():
    page = markdown.to_html("*" * markdown.LIMIT + "hidden <script>")
    assert page.startswith("<pre>***") and "15 more characters" in page and "hidden" not in page


@pytest.mark.parametrize("piece", ["[", "<b><a>", "\\\\(", "`a``b", "> ", "\\begin{a}", "$a", "&"])
def test_what_is_made_to_be_slow_is_not(piece):
    begin = time.process_time()
    markdown.to_html(piece * (markdown.LIMIT // len(piece)))
    assert time.process_time() - begin < 10
