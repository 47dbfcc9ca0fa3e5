"""What strangers wrote is read and shown in time that grows about as its length does.

Each family was once slow in a parser of Markdown, of HTML, of Python or of JSON. Four times the
input may take nine times as long: in proportion it is four, with the square sixteen.
"""

import functools
import random
import time

import pytest

from distlab.checking import submission
from distlab.notebook import Cell
from distlab.records import redaction
from grader.reports import feedback, markdown, mistakes

NOTHING = 0.1  # seconds
MARKDOWN = {
    "blank lines": "\n", "lines of blanks": " \n", "blanks": " ", "tabs": "\t", "one line": "a ",
    "backticks": "`", "code spans": "`a``b", "fences": "```\n", "indented code": "    a\n",
    "brackets": "[", "links begun": "[a](", "links": "[a](b) ", "images begun": "![",
    "references": "[a]: b\n", "footnotes": "[^a]: b\n", "addresses": "http://a ", "mails": "<a@",
    "stars": "*", "emphasis": "*a _b ", "strong": "**a *b ", "struck": "~~a", "quotes": "> ",
    "quotes in each other": ">", "lists": "- ", "numbers": "1. ", "headings": "# a\n",
    "rules": "a\n-\n",
    "pipes": "|", "tables": "|a|b|\n|-|-|\n", "tables in lines": "a|a|b|\n|-|-|\n", "cells": "a|",
    "entities": "&amp;", "entities begun": "&#", "elements": "<b>",
    "elements in each other": "<b><a>",
    "divisions": "<div>\n", "paragraphs": "<p>a", "attributes": '<a b="', "comments": "<!--",
    "types": "List<int> ", "formulas": "$a$ ", "formulas begun": "$a", "displayed": "$$",
    "parentheses": "\\\\(", "environments": "\\begin{a}", "escapes": "\\", "NUL": "\0",
    "ANSI escapes": "\x1b[31m",
}  # fmt: skip
CODE = {
    "blank lines": "\n", "lines of blanks": " \n", "lines of odd blanks": "\t\x0b\u2003\n",
    "returns": "\r", "blanks": " ", "one line": "a ", "attributes": "a.", "dots": ".",
    "strings": '"a" ', "quotes": '"', "docstrings": '"""', "docstrings begun": '\n"""a',
    "f-strings": 'f"{', "brackets": "[", "braces": "{", "comments": "#", "decorators": "@a\n",
    "imports": "import a,", "from": "from \n", "magics": "%a\n", "help": "a?\n", "shell": "!a\n",
    "lambdas": "lambda ", "numbers": "1e", "continued": "\\\n", "letters": "é", "emoji": "😀",
    "NUL": "\0", "operators": "+", "cell magics": "%%a\n", "ANSI escapes": "\x1b[31m",
}  # fmt: skip
SAID = {
    "quotes": "'", "quoted": "`a'", "numbers": "1,", "dots": "1.", "signs": "-", "lists": "1, ",
    "commas": "#,,", "and": "1 and ", "calls": "f(", "places": "a:1 ", "braces": "{", "words": "a ",
    "colons": ":1", "blanks": " ", "ANSI escapes": "\x1b[31m",
}  # fmt: skip


def nested(line, size):
    """Each line deeper than the one before, as long as there is room."""
    lines = [line(depth) for depth in range(int(size**0.5))]
    return "\n".join(lines)[:size]


def seconds(shown, source):
    """The processor's time for it."""
    begin = time.process_time()
    shown(source)
    return time.process_time() - begin


def check(shown, made, size):
    """What takes no time at its largest need not be in proportion, and what is once, is."""
    whole = seconds(shown, made(size))
    if whole < NOTHING:
        return
    quarter = min(seconds(shown, made(size // 4)) for _ in range(3))
    for _ in range(2):
        if whole < 9 * quarter + NOTHING:
            return
        whole = min(whole, seconds(shown, made(size)))
    assert whole < 9 * quarter + NOTHING, f"{quarter:.3f} s, {whole:.3f} s for four times as much"


def repeated(piece):
    return lambda size: piece * (size // len(piece))


to_html = markdown._rendered.__wrapped__  # which remembers nothing


@pytest.mark.parametrize("piece", MARKDOWN.values(), ids=MARKDOWN)
def test_markdown(piece):
    check(to_html, repeated(piece), markdown.LIMIT)


@pytest.mark.parametrize(
    "line",
    [lambda d: "  " * d + "- a", lambda d: ">" * d + " a", lambda d: "<div>" * d, lambda d: "#" * d,
     lambda d: "`" * d + "a", lambda d: "*" * d + "a", lambda d: "[" * d + "a" + "]" * d],
    ids=["lists", "quotes", "divisions", "headings", "code", "emphasis", "brackets"],
)  # fmt: skip
def test_markdown_that_gets_ever_deeper(line):
    check(to_html, lambda size: nested(line, size), markdown.LIMIT)


@pytest.mark.parametrize("seed", range(24))
def test_markdown_of_random_pieces(seed):
    """Of two to four families in turn, or at random."""
    generator = random.Random(seed)
    pieces = generator.sample(sorted(MARKDOWN.values()), generator.randrange(2, 5))
    if seed % 2:
        check(to_html, repeated("".join(pieces)), markdown.LIMIT)
    else:
        made = "".join(generator.choices(pieces, k=markdown.LIMIT))
        check(to_html, lambda size: made[:size], markdown.LIMIT)


@pytest.mark.parametrize("piece", CODE.values(), ids=CODE)
def test_code_in_colours(piece):
    check(feedback.code, repeated(piece), 20_000)


@pytest.mark.parametrize("seed", range(20))
def test_code_of_random_pieces(seed):
    generator = random.Random(seed)
    pieces = generator.sample(sorted(CODE.values()), generator.randrange(2, 5))
    made = "".join(generator.choices(pieces, k=20_000))
    check(feedback.code, lambda size: made[:size], 20_000)


@pytest.mark.parametrize("piece", CODE.values(), ids=CODE)
def test_what_a_cell_defines(piece):
    check(lambda s: Cell("x", s, "solution").defines(), repeated(piece), 100_000)


@pytest.mark.parametrize("piece", SAID.values(), ids=SAID)
@pytest.mark.parametrize(
    "shown",
    [redaction.visible, mistakes.masked, functools.partial(redaction.operations, size=4),
     lambda said: feedback.places({"happened": said})],
    ids=["shown", "compared", "quoted", "marked"],
)  # fmt: skip
def test_messages(shown, piece):
    check(shown, repeated(piece), 10_000)


@pytest.mark.parametrize(
    "made",
    [lambda n: '{"source": ' + "[" * n + "]" * n + "}", lambda n: '{"source": "' + "a" * n + '"}',
     lambda n: '{"source": "' + '\\"' * n + '"}', lambda n: '{"source": "' + "\\u0041" * n + '"}',
     lambda n: ",".join(["{}"] * (n // 60)), lambda n: '{"outputs": [' + "[" * n + "]" * n + "]}",
     lambda n: '{"source": [' + ",".join(['"a"'] * n) + "]}",
     lambda n: '{"metadata": {' + ",".join(f'"{i}":{i}' for i in range(n)) + "}}",
     lambda n: '{"metadata": {"a": ' + "9" * n + "}}"],
    ids=["deep", "long", "quotes", "escapes", "cells", "deep outputs", "lines", "names", "digits"],
)  # fmt: skip
def test_notebooks(tmp_path, made):
    path = tmp_path / "lab.ipynb"

    def read(text):
        path.write_text('{"nbformat": 4, "cells": [' + text + "]}")
        try:
            submission.read(path)
        except submission.Unreadable:
            return

    check(read, made, 250_000)
