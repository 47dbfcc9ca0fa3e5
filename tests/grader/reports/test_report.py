"""The instructor's page on a class."""

import datetime
import re
from urllib.parse import unquote

import classes
import harmless
import pytest
from bs4 import BeautifulSoup
from classes import LAB, NAMES, graded, wrong

from grader.reports import html, report

NOW = datetime.datetime(2026, 10, 2, 14, 5, tzinfo=datetime.timezone.utc)
UNTOUCHED = {name: {"status": "unanswered", "seconds": 0.0} for name in NAMES}


@pytest.fixture
def page(tmp_path):
    """Write a page on these submissions; returns it parsed."""

    def written(*some, **about) -> BeautifulSoup:
        path = tmp_path / "out" / f"{LAB}.html"
        report.write(path, LAB, some, 75.0, NOW, **about)
        text = path.read_text("utf-8")
        assert harmless.harm(text) == []
        return BeautifulSoup(text, "html.parser")

    return written


def text(element) -> str:
    return " ".join(element.get_text(" ").split())


def test_the_head_says_how_many_when_and_how_long(page, tmp_path):
    said = text(page(graded(tmp_path, "ada"), graded(tmp_path, "fay", **UNTOUCHED)).header)
    assert "2 submissions, graded on 2 October 2026 at 14:05 UTC in 1 min 15 s" in said
    assert "12 of 24 median points" in said and "1 with all points" in said


def test_each_exercise_has_the_share_that_passed_and_its_statuses(page, tmp_path):
    some = [graded(tmp_path, f"s{i}", relay=wrong(status="deadlock")) for i in range(1)]
    some += [graded(tmp_path, f"r{i}") for i in range(3)]
    exercises = [text(each) for each in page(*some).select(".exercise")]
    assert len(exercises) == len(NAMES)
    (relay,) = (each for each in exercises if each.startswith("relay"))
    assert "75 % passed" in relay and "✓ 3 passed" in relay and "⇄ 1 deadlock" in relay
    assert "median 1.0 s, longest 1.0 s" in relay


def test_a_common_mistake_is_told_once_with_its_number_and_who(page, tmp_path):
    hint = {"hint": "sum for mean", "look": "What is it divided by?"}
    some = [
        graded(
            tmp_path, name, group_mean=wrong(f"On {size} ranks, rank 1 returned {size}.", **hint)
        )
        for name, size in (("ada", 2), ("ben", 4), ("chen", 3))
    ]
    (item,) = page(*some).select(".mistakes li:not(.none)")
    assert text(item).startswith("3× sum for mean · ada , ben , chen What is it divided by?")
    assert "On 2 ranks, rank 1 returned 2." in text(item)


def test_who_needs_a_look_is_named_with_the_reason(page, tmp_path):
    some = [
        graded(tmp_path, "ada", manual=4.0), graded(tmp_path, "ben"),
        graded(tmp_path, "emil", manual=0.0, relay=wrong(status="crashed")),
        graded(tmp_path, "gus", unreadable="x.ipynb is no notebook", manual=0.0),
    ]  # fmt: skip
    rows = [text(row) for row in page(*some).select(".looks tr")]
    assert rows == [
        "emil ↯ relay the process ended by itself",
        "gus ? x.ipynb is no notebook",
        "1 student ¶ free text waits for points, in the formgrader: ben",
    ]


def test_who_was_not_graded_hides_nobody_s_free_text(page, tmp_path):
    lost = graded(tmp_path, "ada")
    lost.manual_max_score, lost.problem = 0.0, "nbgrader could not take it"
    soup = page(lost, graded(tmp_path, "ben", manual=3.0), graded(tmp_path, "chen"))
    head, *rows = soup.select(".matrix tr")
    assert text(head).endswith("free text 4")
    assert [text(row.select("td")[-1]) for row in rows] == ["–", "3", "waits"]


def test_each_cell_of_the_matrix_leads_to_the_exercise_on_the_feedback_page(page, tmp_path):
    one = graded(tmp_path, "a#b?c d&é", relay=wrong())
    cells = page(one).select(".matrix tbody td a")
    assert len(cells) == len(NAMES)
    for name, cell in zip(NAMES, cells, strict=True):
        path, _, anchor = cell["href"].partition("#")
        target = tmp_path / "out" / unquote(path)
        assert target.resolve() == one.feedback / "message_passing.html"
        assert anchor == html.anchor(name)
        assert text(cell) in ("✓ passed", "✗ wrong")


def test_a_status_is_told_by_symbol_and_word_not_by_colour_alone(page, tmp_path):
    some = [graded(tmp_path, s, relay=wrong(status=s)) for s in html.STATUSES if s != "unreadable"]
    column = NAMES.index("relay") + 1
    cells = page(*some).select(f".matrix tbody tr td:nth-of-type({column + 1}) a")
    assert len({text(cell) for cell in cells}) == len(some)
    assert [text(cell).split(maxsplit=1)[1] for cell in cells] == [
        one.entry.student for one in some
    ]


@pytest.mark.parametrize("payload", [*harmless.PAYLOADS, "\x1b[31m\u202e\x01\udc80"])
def test_nothing_that_a_submission_says_becomes_part_of_the_page(page, tmp_path, payload):
    student = payload.replace("/", "")[:60]
    soup = page(
        graded(tmp_path, student, repaired=[payload]),
        graded(tmp_path, student + "2", unreadable=payload),
        graded(tmp_path, "b", relay=wrong(payload, hint=payload, look=payload),
               exchange=wrong(payload, status=payload)),
        missing=[student + "3"],
    )  # fmt: skip
    assert not set("\x01\x1b\u202e") & set(soup.get_text())
    assert len(soup.find_all("style")) == 3  # of all pages, of the report, and of its likeness


def test_the_page_needs_nothing_from_elsewhere_and_allows_nothing_to_run(page, tmp_path):
    soup = page(graded(tmp_path, "ada"))
    policy = soup.find("meta", {"http-equiv": "Content-Security-Policy"})["content"]
    assert "default-src 'none'" in policy and "script-src" not in policy
    assert not re.search(r"url\(|@import|https?://(?!www\.w3\.org)", str(soup))
    assert "prefers-color-scheme: dark" in str(soup) and "@media print" in str(soup)


def test_the_command_that_makes_a_secret_is_shown_as_code(page, tmp_path):
    footer = page(graded(tmp_path, "ada")).footer
    assert footer.code.get_text() == "distlab secret new" and "`" not in footer.get_text()


def test_the_histogram_counts_everybody(tmp_path):
    some = [graded(tmp_path, f"s{i}") for i in range(3)]
    some.append(graded(tmp_path, "fay", **UNTOUCHED))
    bars = re.findall(r"<title>([^<]*): (\d+)</title>", report.histogram(some))
    assert bars == [("0 to under 2 points", "1"), ("22 to 24 points", "3")]


def test_a_thousand_submissions_make_a_page_that_opens(tmp_path):
    some = [classes.graded(tmp_path, f"student{i}", relay=wrong()) for i in range(1000)]
    path = report.write(tmp_path / "out" / "x.html", LAB, some, 1.0)
    assert path.stat().st_size < 4 << 20
