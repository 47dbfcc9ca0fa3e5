"""The file that Canvas imports in its gradebook (Grades, Import), made from one that it exported.

It has the columns by which Canvas knows students and, of the assignments, only those of our labs,
so that nothing else changes there. The first column has to be Student, or LastName and
FirstName, then follow ID, SIS User ID and SIS Login ID where Canvas exports them, and Section; then
"TITLE (ID)" for each assignment. A row "Points Possible" has the maxima. Canvas sets the maximum
of an assignment to what stands there, so that this row is kept as it is.

Sources: https://community.canvaslms.com/t5/Instructor-Guide/How-do-I-import-grades-in-the-Gradebook/ta-p/807
and lib/gradebook_importer.rb and lib/gradebook_exporter.rb of https://github.com/instructure/canvas-lms
"""  # noqa: E501

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

from grader.export import matching
from grader.export.made import Made, by_student, unmatched
from grader.export.points import Result, hundredths
from grader.export.sheet import DELIMITERS, Sheet, Unusable, cell, key, listed, shown

LOGINS = ("SIS Login ID", "SIS User ID")
NUMBER = "ID"  # Canvas's own
KEYS = (*LOGINS, NUMBER)
_STUDENT = ("Student", "LastName", "FirstName", *KEYS, "Integration ID", "Root Account", "Section")
_ASSIGNMENT = re.compile(r"(.*?)\s*\((\d+)\)", re.DOTALL)
_POSSIBLE = "points possible"
_REMARK = re.compile(r"\s*(muted|manual posting.*)?\s*", re.IGNORECASE)
_EXCUSED = "ex"


def make(
    sheet: Sheet, results: Sequence[Result], labs: Sequence[str], named: Mapping[str, str],
    more_keys: Sequence[str], file: str,
) -> Made:  # fmt: skip
    """The file to import.

    Args:
        sheet: what Canvas exported.
        named: lab → column.
        more_keys: columns that identify a student, besides Canvas's own.
        file: the sheet's name, for sentences.

    Raises:
        Unusable: the sheet is not a gradebook that Canvas exported, or has no column of any lab.
    """
    if not sheet.places("ID") or not sheet.places("Section"):
        raise Unusable(
            f"{file} has no columns ID and Section: export the gradebook in Canvas (Grades, Export)"
        )
    about, rows = _split(sheet)
    places, said = matching.columns(sheet.header, labs, named, lambda at: _titles(sheet, about, at))
    missing = [lab for lab in labs if lab not in places and not any(lab in one for one in said)]
    if missing:
        said.append(
            f"{file} has no column for {listed(missing)}: create the assignments in Canvas and "
            f'export anew, or name the columns (--column {missing[0]}="Lab 1 (1234)").'
        )
    if not places:
        raise Unusable(" ".join(said) or f"{file} has no column of a lab")
    asked = by_student([one for one in results if one.lab in labs])
    matched = _matched(sheet, rows, asked, more_keys)
    said += unmatched(matched, {at: _name(sheet, row) for at, row in enumerate(rows)}, file)
    said += _maxima(sheet, about, places, results)
    said += _enter(rows, asked, matched.rows, places)
    without = set(labs) - set(places)
    complete = not matched.missing and not matched.unclear and not without
    return Made(_kept(sheet, about, rows, places), said, complete, without)


def _matched(
    sheet: Sheet, rows: Sequence[Sequence[str]], names: Collection[str], more_keys: Sequence[str]
) -> matching.Matched:
    """Whose the rows are. Canvas's own numbers count only where they find more students than logins
    do: a student whose login is a number could be somebody else there.
    """

    def by(*columns: str) -> matching.Matched:
        keys = sheet.places(*columns, *more_keys)
        return matching.students(names, [{row[place] for place in keys} for row in rows])

    logins, numbers = by(*LOGINS), by(NUMBER)
    return numbers if len(numbers.rows) > len(logins.rows) + len(logins.unclear) else logins


def _split(sheet: Sheet) -> tuple[list[list[str]], list[list[str]]]:
    """The rows above the students', and the students' rows."""
    about: list[list[str]] = []
    rows: list[list[str]] = []
    for row in sheet.rows:
        head = _POSSIBLE in row[0].casefold() or all(_REMARK.fullmatch(one) for one in row)
        (about if head else rows).append(row)
    return about, rows


def _titles(sheet: Sheet, about: Sequence[Sequence[str]], place: int) -> list[str]:
    """The names of a column's assignment; none if it is no assignment that can be imported."""
    found = _ASSIGNMENT.fullmatch(sheet.header[place])
    if found is None or any("read only" in row[place].casefold() for row in about):
        return []
    return [found[1], sheet.header[place]]


def _name(sheet: Sheet, row: Sequence[str]) -> str:
    """What people call the student of a row."""
    names = [row[place] for place in sheet.places("Student", "LastName", "FirstName") if row[place]]
    logins = [row[place] for place in sheet.places(*KEYS) if row[place]]
    return f"{', '.join(names)} ({logins[-1]})" if names and logins else ", ".join(names or logins)


def _maxima(
    sheet: Sheet, about: Sequence[Sequence[str]], places: Mapping[str, int],
    results: Sequence[Result],
) -> list[str]:  # fmt: skip
    """Say where an assignment has another maximum in Canvas."""
    said = []
    most = {one.lab: hundredths(one.most) for one in results}
    for row in about:
        for lab, place in places.items():
            there = row[place].replace(",", ".")
            if not re.fullmatch(r"\d+(\.\d*)?", there) or float(there) == float(most[lab]):
                continue
            said.append(
                f"{shown(sheet.header[place])} has {there} points in Canvas, and {lab} has "
                f"{most[lab]} here: points are not scaled."
            )
    return said


def _enter(
    rows: Sequence[list[str]], asked: Mapping[str, Mapping[str, Result]],
    matched: Mapping[str, int], places: Mapping[str, int],
) -> list[str]:  # fmt: skip
    """Put the final points into the students' rows; returns a sentence on who is excused."""
    excused = []
    for student, number in matched.items():
        for lab, place in places.items():
            result = asked[student].get(lab)
            if result is None:
                continue
            if rows[number][place].strip().casefold() == _EXCUSED:
                excused.append(f"{student} ({lab})")
            else:
                rows[number][place] = hundredths(result.final)
    if not excused:
        return []
    return [f"Excused in Canvas, and left so: {listed(excused)}."]


def _kept(
    sheet: Sheet, about: Sequence[list[str]], rows: Sequence[list[str]], places: Mapping[str, int]
) -> Sheet:
    """The columns of students and of our labs."""
    own = sheet.places(*_STUDENT)
    kept = [*own, *places.values()]
    keys = set(sheet.places(*KEYS))
    safe = [
        [key(row[place]) if place in keys else cell(row[place]) for place in kept]
        for row in (*about, *rows)
    ]
    # Canvas takes commas and semicolons
    delimiter = sheet.delimiter if sheet.delimiter in DELIMITERS[:2] else ","
    return Sheet([sheet.header[place] for place in kept], safe, delimiter, sheet.bom)
