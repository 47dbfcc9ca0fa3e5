"""What may be the name of a file, of a lab and of a person, and what may not."""

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distlab.exchange import names
from distlab.exchange.names import Refused


@pytest.mark.parametrize(
    "name",
    ["a.ipynb", "data/x.csv", "Übung 1.ipynb", "U\u0308bung.ipynb", ".gitignore", "a+b", "lab (1)",
     "日本語.ipynb", "a..b", "…", "a\u2024b", "conference.txt", "x" * 255, "/".join("abcdefghijk")],
)  # fmt: skip
def test_ordinary_names_are_taken_as_they_are(name):
    assert names.path(name) == name


@pytest.mark.parametrize(
    "name",
    ["", "/etc/passwd", "../x", "a/../../x", "a/..", ".", "./a", "a//b", "a/", "a\\b", "..\\x",
     "C:x", "a\0b", "a\nb", "a\x7f", "a\u202etxt.exe", "a\u200bb", "\ufeffa", "a\ud800", "a\u2028b",
     "a\uff0fb", "\uff0e\uff0e/x", "\u2025/x", "nul", "CON", "com1.txt", "a/aux.ipynb",
     " a", "a ", "a.", "x" * 256, "é" * 128, "/".join("a" * 12), "/".join(["x" * 99] * 11),
     None, 3, ["a"]],
)  # fmt: skip
def test_names_that_lead_elsewhere_or_deceive_are_refused(name):
    with pytest.raises(Refused) as refused:
        names.path(name)
    assert str(refused.value).isprintable()


@given(st.text(max_size=40) | st.text(alphabet="./\\a\0:", max_size=12))
def test_whatever_is_taken_stays_in_its_folder(name):
    try:
        names.path(name)
    except Refused:
        return
    assert os.path.normpath(os.path.join("/srv/x", name)) == f"/srv/x/{name}"


@pytest.mark.parametrize("name", ["a/b", ".hidden", "..", "a+b", "x" * 101, "é" * 51, ""])
def test_a_lab_has_a_name_that_can_stand_in_a_submissions(name):
    with pytest.raises(Refused):
        names.lab(name)


def test_the_longest_names_of_a_lab_and_a_person_are_those_of_a_folder_together():
    student, lab = names.person("ö" * 40), names.lab("試" * 33)
    when, key = "2026-11-02 10:00:00.000000 UTC", "a" * 32
    assert len(os.fsencode(names.submission(student, lab, when, key))) <= names.LONGEST


def test_a_submissions_name_is_read_back_whatever_the_students_is():
    for student in ("ada", "ada+01-lab", "a+b+c@example.org"):
        name = names.submission(student, "01-lab", "2026-11-02 10:00:00.000000 UTC", "ab12")
        assert names.parts(name) == (student, "01-lab", "2026-11-02 10:00:00.000000 UTC", "ab12")
    assert names.parts("ada+01-lab") is None is names.parts("+a+b+c")
