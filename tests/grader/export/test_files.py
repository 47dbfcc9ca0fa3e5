"""Files of Canvas and Moodle come back with our points, and with nothing else changed."""

import csv
import functools
import io
import os
import stat
from fractions import Fraction

import pytest

from grader.export import canvas, commands, long_form, matching, moodle, sheet
from grader.export.points import Cell, Result
from grader.export.sheet import Unusable
from grader.writing import NotWritten

LAB, OTHER = "01-message-passing", "02-toy-model"
# the columns and rows that lib/gradebook_exporter.rb of canvas-lms writes
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,01-message-passing (23),Q (24),Final Score
,,,,,Manual Posting,,
    Points Possible,,,,,28.00,5,(read only)
"Block, Jasen",11,,jblock3430,XC 101,8.00,1,
"=cmd|' /C calc'!A0",2,,billy7670@x.org,XC 101,EX,2,
"Gislason, ""Hope""\nAnn",7,,hope,XC 101,7.00,3,
"""
# the sample of grade/import/csv/tests/load_data_test.php of moodle
MOODLE = (
    '"First name",Surname,"ID number",Institution,Department,"Email address",'
    '"Assignment: 01-message-passing", "Feedback: 01-message-passing","Course total"\n'
    'Anne,Able,,"Moodle HQ","Rock on!",student7@example.com,56.00,"We welcome feedback",56.00\n'
    'Bobby,Bunce,,"Moodle HQ","Rock on!",Student5@example.com,75.00,,75.00\n'
)


def result(student, points="21.6", lab=LAB, penalty="0", comment=""):
    cells = [Cell("test_relay", Fraction(points), Fraction(28), "automatic", False, comment)]
    return Result(student, lab, None, cells, Fraction(penalty))


def table(tmp_path, text, module, encoding="utf-8"):
    (tmp_path / "roster.csv").write_bytes(text.encode(encoding))
    return sheet.read(tmp_path / "roster.csv", module.KEYS, "a roster")


def made(tmp_path, text, module, results, labs=(LAB,), named=(), encoding="utf-8"):
    found = table(tmp_path, text, module, encoding)
    return module.make(found, results, list(labs), dict(named), (), "roster.csv")


def test_canvas_has_back_what_it_exported_with_our_points(tmp_path):
    some = [result("jblock3430"), result("billy7670"), result("HOPE", "24.1", penalty="2.4")]
    got = made(tmp_path, CANVAS, canvas, some)
    sheet.write(tmp_path / "out.csv", got.sheet)
    rows = list(csv.reader(io.StringIO((tmp_path / "out.csv").read_text(), newline="")))
    before = list(csv.reader(io.StringIO(CANVAS, newline="")))
    assert rows[0] == before[0][:6] and rows[1][5] == "Manual Posting" and rows[2][5] == "28.00"
    assert [row[1:5] for row in rows] == [row[1:5] for row in before]
    assert [row[5] for row in rows[3:]] == ["21.60", "EX", "21.70"]
    assert rows[4][0] == "'=cmd|' /C calc'!A0" and rows[5][0] == before[5][0]
    assert got.complete and got.said == [f"Excused in Canvas, and left so: billy7670 ({LAB})."]


def test_a_number_of_canvas_s_own_is_nobody_s_login(tmp_path):
    text = f"Student,ID,SIS Login ID,Section,{LAB} (23)\nBlock,11,20,X,\nGislason,12,21,X,\n"
    got = made(tmp_path, text, canvas, [result("11"), result("21", "7")])  # 11 is in no row
    assert [row[-1] for row in got.sheet.rows] == ["", "7.00"]
    assert got.said[0] == "Graded, but not in roster.csv: 11." and not got.complete


def test_canvas_s_numbers_are_taken_where_nobody_is_found_by_a_login(tmp_path):
    text = f"Student,ID,SIS Login ID,Section,{LAB} (23)\nBlock,11,jb,X,\nGislason,12,hg,X,\n"
    got = made(tmp_path, text, canvas, [result("11"), result("12", "7")])
    assert [row[-1] for row in got.sheet.rows] == ["21.60", "7.00"] and got.complete


def test_canvas_s_numbers_are_taken_where_a_login_is_one_of_them_by_chance(tmp_path):
    """All folders are named by Canvas's numbers, as LTI may give them, and 11 is zoe's login."""
    rows = "Block,11,jb,X,\nGislason,12,hg,X,\nHope,13,ho,X,\nZoe,14,11,X,\n"
    text = f"Student,ID,SIS Login ID,Section,{LAB} (23)\n{rows}"
    got = made(tmp_path, text, canvas, [result("11"), result("12", "7"), result("13", "8")])
    assert [row[-1] for row in got.sheet.rows] == ["21.60", "7.00", "8.00", ""] and got.complete


def test_moodle_has_points_and_feedback_side_by_side(tmp_path):
    some = [result("student5@example.com", "24", penalty="2.4", comment="=good")]
    got = made(tmp_path, MOODLE, moodle, some)
    assert got.sheet.header[-2:] == [f"Assignment: {LAB}", f"Feedback: {LAB}"]
    (row,) = got.sheet.rows  # Anne's grade is left alone
    assert row[:4] == ["Bobby", "Bunce", "", "Student5@example.com"] and row[4] == "21.60"
    assert row[5] == "24.00 of 28.00 points, 2.40 taken off for lateness.\n=good"
    assert got.said == [
        "In roster.csv, but nothing graded is theirs: Anne Able (student7@example.com)."
    ]


def test_moodle_s_dash_for_no_grade_comes_back_as_it_is(tmp_path):
    text = f'Username,"Assignment: {LAB} (Real)","Assignment: {OTHER} (Real)"\nada,-,-\n'
    got = made(tmp_path, text, moodle, [result("ada")], labs=(LAB, OTHER))
    ((name, points, _, other, feedback),) = got.sheet.rows
    assert (name, points, other, feedback) == ("ada", "21.60", "-", "")
    assert sheet.cell("-1+1") == "'-1+1"


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_delimiters_and_encodings_are_read(tmp_path, delimiter, encoding):
    text = f"Username{delimiter}First name\nada{delimiter}\u00c5da\n".replace("\n", "\r\n")
    found = table(tmp_path, text, moodle, encoding)
    assert (found.rows, found.delimiter) == ([["ada", "\u00c5da"]], delimiter)
    sheet.write(tmp_path / "roster.csv", found)
    assert sheet.read(tmp_path / "roster.csv", moodle.KEYS, "").rows == found.rows


def test_a_file_whose_lines_end_as_on_an_old_mac_is_read(tmp_path):
    found = table(tmp_path, "Username,First name\rada,Ada\rben,Ben\r", moodle)
    assert found.rows == [["ada", "Ada"], ["ben", "Ben"]]


def test_what_is_written_replaces_a_file_and_neither_a_link_nor_a_pipe(tmp_path):
    made = sheet.Sheet(["a"], [["1"]])
    (tmp_path / "link.csv").symlink_to(tmp_path / "out.csv")
    for _ in range(2):
        sheet.write(tmp_path / "link.csv", made)
    assert (tmp_path / "link.csv").is_symlink() and (tmp_path / "out.csv").read_text() == "a\n1\n"
    before = os.umask(0)
    os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.csv").stat().st_mode) == 0o666 & ~before
    os.mkfifo(tmp_path / "pipe")
    for there in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(Unusable, match="is not a file: name one"):
            sheet.write(there, made)
    assert (tmp_path / "pipe").is_fifo()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "out.csv", "pipe"]


def test_a_name_that_no_file_can_have_is_told_in_a_sentence(tmp_path):
    with pytest.raises(NotWritten, match=r"cannot be written \(File name too long\)"):
        sheet.write(tmp_path / ("x" * 300), sheet.Sheet(["a"], [["1"]]))


def test_names_match_only_where_it_is_clear():
    keys = [{"ada"}, {"Ben@x.org"}, {"eve@a.org"}, {"eve@b.org"}, {"zoe@a.org"}]
    got = matching.students(["ada", "ADA", "ben", "eve", "zoe@b.org", "carl"], keys)
    assert got.rows == {"ada": 0, "ben": 1}
    assert set(got.unclear) == {"ADA", "eve"} and got.missing == ["carl", "zoe@b.org"]


@pytest.mark.parametrize(
    ("module", "text", "column"),
    [(canvas, CANVAS, "Section"), (canvas, CANVAS, "ID"), (canvas, CANVAS, "Final Score"),
     (moodle, MOODLE, "Email address"), (moodle, MOODLE, f"Feedback: {LAB}")],
)  # fmt: skip
def test_points_go_into_no_column_that_holds_no_assignment(tmp_path, module, text, column):
    with pytest.raises(Unusable, match=f"no column '{column}' for {LAB}: write one of"):
        made(tmp_path, text, module, [result("hope")], named={LAB: column})


def test_letters_that_unicode_composes_otherwise_are_the_same():
    whole, parts = "Jos\u00e9", "jose\u0301"  # as macOS names a folder
    assert matching.students([parts], [["ada"], [whole]]).rows == {parts: 1}
    assert matching.students([parts, whole], [[whole]]).rows == {whole: 0}
    assert sheet.Sheet(["U\u0308bung 1"], []).places("\u00fcbung 1") == [0]


def test_columns_are_named_where_they_are_called_otherwise(tmp_path):
    text = CANVAS.replace(LAB, "Lab 1")
    with pytest.raises(Unusable, match="has no column for 01-message-passing"):
        made(tmp_path, text, canvas, [result("hope")])
    got = made(tmp_path, text, canvas, [result("hope")], named={LAB: "Lab 1 (23)"})
    assert got.sheet.rows[-1][5] == "21.60"
    with pytest.raises(Unusable, match="no column 'Lab 2'"):
        made(tmp_path, text, canvas, [result("hope")], named={LAB: "Lab 2"})


def test_a_lab_without_a_column_is_not_said_to_be_in_the_file(tmp_path):
    some = [result("hope"), result("hope", lab=OTHER)]
    got = made(tmp_path, CANVAS, canvas, some, labs=(LAB, OTHER))
    assert not got.complete and f"has no column for {OTHER}: " in got.said[0]
    assert commands._count(got, [LAB, OTHER]) == f"5 rows, {LAB}"


def test_whoever_is_not_in_the_file_is_named(tmp_path):
    got = made(tmp_path, CANVAS, canvas, [result("carl\x1b[31m"), result("hope")])
    assert not got.complete and "Graded, but not in roster.csv: carl\\x1b[31m." in got.said


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"x" * (sheet.LARGEST + 1), "more than 20 MB"), (b"PK\x03\x04", "workbook"),
        (b"ID\n\xff\xfe\xfa", "UTF-8"), (b"ID\0,", "no text"), (b"", "empty"),
        (b"a,b\n1,2\n", "none of its columns"), (b'ID,x\n"1,2\n', "not CSV"),
        (b"ID,x\n1,2,3\n", "3 cells in row 2"),
    ],
)  # fmt: skip
def test_other_files_are_refused_in_one_sentence(tmp_path, content, said):
    (tmp_path / "roster.csv").write_bytes(content)
    with pytest.raises(Unusable, match=said) as error:
        sheet.read(tmp_path / "roster.csv", canvas.KEYS, "a gradebook")
    assert "\n" not in str(error.value)


def test_a_file_in_another_language_is_told_of_the_option(tmp_path):
    text = "Anmeldename,01-message-passing\nada,\n"
    (tmp_path / "roster.csv").write_text(text)
    made = functools.partial(commands._made, "moodle", [result("ada")], (LAB,), {})
    with pytest.raises(Unusable, match="by --key"):
        made([], tmp_path / "roster.csv", tmp_path / "out.csv")
    assert made(["Anmeldename"], tmp_path / "roster.csv", tmp_path / "out.csv").complete


def test_everything_as_csv_has_its_columns():
    (row,) = long_form.make([result("ada", comment="fine")]).sheet.rows
    assert dict(zip(long_form.HEADER, row, strict=True))["final_points"] == "21.60"


def test_who_waits_for_points_is_named_once_a_lab():
    waits = [Cell("free_text", None, Fraction(4), "", True, "")]
    some = [Result(name, lab, None, waits) for lab in (LAB, "02-toy-model") for name in "ab"]
    (said,) = commands._about([*some, result("c")], [])
    assert said.endswith(f"is exported: {LAB} (a, b); 02-toy-model (a, b).")
