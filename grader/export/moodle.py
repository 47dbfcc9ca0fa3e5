"""The file that Moodle imports (Grades, Import, CSV file), made from one that it exported: the list
of participants, or the grader report.

Moodle asks once for each file which column is what. It finds a student by username, email address
or ID number, as these are written in its own file. An empty cell deletes a grade in Moodle, so
students without any result are left out, and where one lab has no result, what the file has for it
is kept. Feedback that is imported without grades deletes these: each lab has both columns.

Sources: https://docs.moodle.org/en/Grade_import and grade/import/csv/classes/load_data.php of
https://github.com/moodle/moodle
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from grader.export import matching
from grader.export.made import Made, by_student, unmatched
from grader.export.points import Result, hundredths
from grader.export.sheet import Sheet, cell, key

KEYS = ("Username", "Email address", "ID number")
_NAMES = ("First name", "Last name", "Surname", "Full name")
_DATED = "Last downloaded from this course"  # Moodle refuses a file older than its grades by it
_TITLE = re.compile(r"(?:[^:()]*:\s*)?(.*?)(?:\s*\(([^()]*)\))?", re.DOTALL)
_NOT_GRADES = ("feedback", "percentage", "letter")


def make(
    sheet: Sheet, results: Sequence[Result], labs: Sequence[str], named: Mapping[str, str],
    more_keys: Sequence[str], file: str,
) -> Made:  # fmt: skip
    """The file to import; arguments as for `canvas.make`."""
    keys = sheet.places(*KEYS, *more_keys)
    places, said = matching.columns(sheet.header, labs, named, lambda at: _titles(sheet, at))
    asked = by_student([one for one in results if one.lab in labs])
    matched = matching.students(asked, [{row[place] for place in keys} for row in sheet.rows])
    names = {at: _name(sheet, row, keys) for at, row in enumerate(sheet.rows)}
    said += unmatched(matched, names, file)
    complete = not matched.missing and not matched.unclear
    return Made(_filled(sheet, asked, matched.rows, labs, places, keys), said, complete)


def _titles(sheet: Sheet, place: int) -> list[str]:
    """The names of a column of grades; none if these are not points."""
    if place in sheet.places(*KEYS, *_NAMES, _DATED):
        return []
    head = sheet.header[place]
    title, how = _parts(head)
    dropped = how.casefold() in _NOT_GRADES or head.casefold().startswith("feedback:")
    return [] if dropped else [title, head, head.rpartition(" (")[0] if how else head]


def _parts(head: str) -> tuple[str, str]:
    """ "Assignment: Lab 1 (Real)" is Lab 1, Real."""
    found = _TITLE.fullmatch(head)
    return (found[1], found[2] or "") if found else (head, "")


def _name(sheet: Sheet, row: Sequence[str], keys: Sequence[int]) -> str:
    names = " ".join(row[place] for place in sheet.places(*_NAMES) if row[place])
    known = next((row[place] for place in keys if row[place]), "")
    return f"{names} ({known})" if names and known else names or known


def _feedback(sheet: Sheet, place: int) -> int | None:
    """The column with the feedback on what is in another column, where the file has one."""
    title = _parts(sheet.header[place])[0]
    for at, head in enumerate(sheet.header):
        other, how = _parts(head)
        is_one = how.casefold() == "feedback" or head.casefold().startswith("feedback:")
        if is_one and other == title:
            return at
    return None


def _filled(
    sheet: Sheet, asked: Mapping[str, Mapping[str, Result]], matched: Mapping[str, int],
    labs: Sequence[str], places: Mapping[str, int], keys: Sequence[int],
) -> Sheet:  # fmt: skip
    """Who a student is, then points and feedback for each lab, in the order of the file's rows."""
    own = sorted({*sheet.places(*_NAMES), *keys})
    dated = sheet.places(_DATED)
    header = [sheet.header[place] for place in own]
    columns: list[tuple[str, int | None, int | None]] = []
    for lab in labs:
        grade = places.get(lab)
        feedback = None if grade is None else _feedback(sheet, grade)
        columns.append((lab, grade, feedback))
        header.append(lab if grade is None else sheet.header[grade])
        header.append(f"{lab} feedback" if feedback is None else sheet.header[feedback])
    rows = []
    for student, number in sorted(matched.items(), key=lambda one: one[1]):
        old = sheet.rows[number]
        row = [key(old[place]) if place in keys else cell(old[place]) for place in own]
        for lab, grade, feedback in columns:
            result = asked[student].get(lab)
            if result is not None:
                row += [hundredths(result.final), cell(told(result))]
            else:
                row += ["" if at is None else cell(old[at]) for at in (grade, feedback)]
        rows.append(row + [old[place] for place in dated])
    header += [sheet.header[place] for place in dated]
    return Sheet(header, rows, sheet.delimiter, sheet.bom)


def told(result: Result) -> str:
    """What a student reads beside the points: what they are made of, and comments."""
    most, points = hundredths(result.most), hundredths(result.points)
    said = [f"{points} of {most} points"]
    if result.penalty:
        said.append(f"{hundredths(result.penalty)} taken off for lateness")
    if result.waits:
        said.append("some of it is not looked at yet")
    return "\n".join([f"{', '.join(said)}.", *result.comments])
