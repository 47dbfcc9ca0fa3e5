"""What is read of a submission is what lies in it, and takes what one notebook may take."""

import json
import os

import exchanging
import pytest
from exchanging import outcomes, refused_or

from distlab import course
from distlab import notebook as notebooks
from distlab.checking import submission
from distlab.checking.submission import Unreadable
from distlab.processes import untrusted
from grader import coursedir
from grader.judging import grade, handed_in, internals

LAB = "01-message-passing"
NAME = course.notebook_name(LAB)
WHEN, SECRET = "2026-11-02 10:00:00.000000 UTC", "ab" * 64


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "submitted" / "ada" / LAB
    made.mkdir(parents=True)
    return made


def content(source="x = 1"):
    cell = {"cell_type": "code", "metadata": {}, "source": source, "outputs": []}
    grading = {"grade_id": "relay", "solution": True, "grade": False}
    own = {**cell, "metadata": {"nbgrader": grading}}
    return json.dumps({"nbformat": 4, "metadata": {}, "cells": [own]})


def source(folder):
    return handed_in.notebook(folder)["cells"][0]["source"]


def test_a_notebook_is_found_by_its_name_else_by_its_exercises(folder):
    (folder / "other.ipynb").write_text('{"nbformat": 4, "cells": []}')
    (folder / "mine.ipynb").write_text(content("by its exercises"))
    assert source(folder) == "by its exercises"
    (folder / NAME).write_text(content("by its name"))
    assert source(folder) == "by its name"


@pytest.mark.parametrize("ending", [".ipynb.txt", ".ipynb.json", ".IPYNB", ".ipynb "])
def test_what_a_download_has_added_to_the_name_of_a_notebook_does_not_matter(folder, ending):
    (folder / f"message_passing{ending}").write_text(content("downloaded"))
    assert source(folder) == "downloaded"


def test_modules_beside_a_notebook_that_it_names_are_written_before_its_cells(folder):
    """The notebook alone is judged; where the student has checked it they were there."""
    imports = (
        "import torch, mine as m\n%run -i ./shown.py\nfrom far import away\nfrom lone.ly import x\n"
        "%run send_receive.py\nimport sys; import late\ntry: import tried\nexcept: ...\n"
        "import os, \\\n    below\nimport_module('by_name')"
    )
    (folder / NAME).write_text(content(imports))
    modules = {"mine": "\ufefffrom deeper import y\n", "deeper": "import mine", "shown": "z = 1"}
    modules |= dict.fromkeys(("late", "tried", "below", "by_name"), "")
    for name, text in {**modules, "unused": "", "torch2": ""}.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    (folder / "send_receive.py").write_text("the lab's own script")
    (folder / "far.py").write_bytes(b"# coding: latin-1\n# \xe9")
    modules["far"] = "# coding: latin-1\n# \ufffd"
    (folder / "lone.py").symlink_to("/etc/passwd")
    *written, own = (cell["source"] for cell in handed_in.notebook(folder)["cells"])
    texts = {
        f"%%writefile {name}.py\n{text}".replace("\ufeff", "") for name, text in modules.items()
    }
    assert own == imports and set(written) == texts and len(written) == len(modules)


@pytest.mark.parametrize("line", ["import send_receive", "if 1: from send_receive import relay"])
def test_a_script_of_the_labs_that_a_notebook_imports_is_a_module_as_another_is(folder, line):
    (folder / NAME).write_text(content(line))
    (folder / "send_receive.py").write_text("x = 1")
    (cell, _) = handed_in.notebook(folder)["cells"]
    assert cell["source"] == "%%writefile send_receive.py\nx = 1"


def test_a_package_that_a_notebook_names_is_written_file_by_file(folder):
    (folder / NAME).write_text(content("from mine.deeper import relay"))
    texts = {
        "mine/__init__.py": "", "mine/deeper/__init__.py": "from ..beside import relay",
        "mine/beside.py": "import late", "late.py": "", "mine.py": "hidden by the package",
    }  # fmt: skip
    others = ("mine/a b.py", "mine/notes.txt", "mine/__pycache__/x.py", "other/x.py")
    for name, text in {**texts, **dict.fromkeys(others, "")}.items():
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_text(text)
    (folder / "mine" / "outside.py").symlink_to("/etc/passwd")
    (folder / "mine" / "away").symlink_to(folder / "other")
    (folder / "late").symlink_to(folder / "other")
    *written, _ = (cell["source"] for cell in handed_in.notebook(folder)["cells"])
    assert sorted(written) == sorted(f"%%writefile {n}\n{text}" for n, text in texts.items())


def test_a_notebook_that_this_one_runs_is_written_without_its_outputs(folder):
    (folder / NAME).write_text(content("%run -i ./of_mine.ipynb\n# not unused.ipynb"))
    other = json.loads(content(f"%run {NAME}\nexec(text)"))
    other["cells"][0]["outputs"] = [{"output_type": "stream", "text": "long"}]
    for name in ("of_mine.ipynb", "unused.ipynb"):
        (folder / name).write_text(json.dumps(other))
    written, _ = notebooks.cells(handed_in.notebook(folder))
    assert written.name == "of_mine.ipynb" and "long" not in written.source
    assert internals.reached([written]) == ["of_mine.ipynb reaches for exec"]


@pytest.mark.parametrize(
    "line", ["-i 'a folder/of-mine.2.ipynb'", "of-mine.2.ipynb of.ipynb", " of-mine.2.ipynb"]
)
def test_a_notebook_that_is_run_may_have_any_name_that_needs_no_quotes(folder, line):
    (folder / NAME).write_text(content(f"if True:\n    %run {line}"))
    (folder / "of-mine.2.ipynb").write_text(content("import late"))
    (folder / "mine.2.ipynb").write_text(content())
    (folder / "late.py").touch()
    *written, _ = notebooks.cells(handed_in.notebook(folder))
    assert [cell.name for cell in written] == ["of-mine.2.ipynb", "late.py"]


@pytest.mark.parametrize("name", ["'mine.ipynb'", 'Path("./mine.ipynb")', "r'/home/a/mine.ipynb'"])
def test_a_notebook_that_this_one_loads_is_written_too(folder, name):
    (folder / NAME).write_text(content(f"relay = load({name}).relay\nload('{NAME}')"))
    (folder / "mine.ipynb").write_text(content())
    written, _ = notebooks.cells(handed_in.notebook(folder))
    assert written.name == "mine.ipynb"


@pytest.mark.parametrize("part", ["a", "%run ", " ", "'", "'/", "/", '"a.', "a.ipynb", ";import "])
def test_a_line_of_a_million_characters_is_looked_through_once(folder, part):
    for begin in ("%run ", "'", "import", ""):
        line = begin + part * (10**6 // len(part))
        handed_in._NOTEBOOK.findall(line), handed_in._IMPORTED.findall(line)


def test_pictures_in_the_texts_of_a_notebook_that_is_run_take_no_room(folder):
    (folder / NAME).write_text(content("%run mine.ipynb"))
    other = json.loads(content("import send_receive"))
    text = {"cell_type": "markdown", "attachments": {"image/png": "A" * submission.ADDED_LIMIT}}
    (folder / "mine.ipynb").write_text(
        json.dumps({**other, "cells": [text, "odd", *other["cells"]]})
    )
    (folder / "send_receive.py").touch()
    first, second, _ = notebooks.cells(handed_in.notebook(folder))
    assert second.name == "send_receive.py"  # imported there, and so no script that is run
    assert len(first.source) < 1000 and notebooks.cells(json.loads(first.source.split("\n")[1]))


def test_notebooks_that_are_run_take_no_more_room_together_than_one(folder, monkeypatch):
    monkeypatch.setattr(submission, "FILE_LIMIT", 1000)
    (folder / NAME).write_text(content("%run a.ipynb\n%run b.ipynb"))
    for name in "ab":
        (folder / f"{name}.ipynb").write_text(content("x" * 600))
    (written, _) = notebooks.cells(handed_in.notebook(folder))
    assert written.name == "a.ipynb"


def test_a_notebook_that_is_run_and_cannot_be_read_now_is_nobodys_zero(folder, monkeypatch):
    (folder / NAME).write_text(content("%run mine.ipynb"))
    (folder / "mine.ipynb").write_text(content())
    plain = untrusted.plain_file

    def locked(path, *rest, **named):
        if str(path) == "mine.ipynb":
            raise PermissionError(13, "Permission denied")
        return plain(path, *rest, **named)

    monkeypatch.setattr(untrusted, "plain_file", locked)
    with pytest.raises(submission.NotNow, match="mine.ipynb"):
        handed_in.notebook(folder)


@pytest.mark.parametrize(
    "make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/etc/passwd", path)]
)
@pytest.mark.parametrize("name", ["mine.py", "mine.ipynb", "mine/__init__.py", "mine", "m" * 255])
def test_what_is_no_plain_file_is_no_module(folder, name, make):
    (folder / NAME).write_text(content(f"import mine, {'m' * 255}\n%run mine.ipynb"))
    (folder / name).parent.mkdir(exist_ok=True)
    make(folder / name)
    (_,) = notebooks.cells(handed_in.notebook(folder))


def test_no_more_files_of_modules_are_taken_over_than_may_be(folder, monkeypatch):
    monkeypatch.setattr(handed_in, "MOST_MODULES", 3)
    (folder / NAME).write_text(content("import first, mine, other"))
    (folder / "mine").mkdir()
    for name in ("first", "mine/a", "mine/b", "mine/c", "other"):
        (folder / f"{name}.py").touch()
    *written, _ = (cell["source"].split()[1] for cell in handed_in.notebook(folder)["cells"])
    assert written == ["first.py", "mine/a.py", "mine/b.py"]


def test_what_is_said_of_a_module_names_its_file_and_counts_no_other_cell_anew(folder):
    notebook = json.loads(content("from mine import relay"))
    notebook["cells"].append({"cell_type": "code", "metadata": {}, "source": "eval(text)"})
    (folder / NAME).write_text(json.dumps(notebook))
    (folder / "mine").mkdir()
    (folder / "mine" / "__init__.py").write_text("exec(text)")
    released = {**notebook, "cells": notebook["cells"][:1]}
    once, _ = submission.rebuild(released, handed_in.notebook(folder))
    twice, _ = submission.rebuild(released, once)  # nbgrader is given what was rebuilt before
    for rebuilt in (once, twice):
        assert internals.reached(notebooks.cells(rebuilt)) == [
            "mine/__init__.py reaches for exec", "cell 2 reaches for eval",
        ]  # fmt: skip


@pytest.mark.parametrize("left", ["mine.ipynb.bak", "mine.ipynb~", ".~mine.ipynb", "a.ipynb.orig"])
def test_what_an_editor_has_left_beside_a_notebook_is_not_in_its_way(folder, left):
    (folder / "mine.ipynb").write_text(content("mine"))
    (folder / left).write_text(content("of yesterday"))
    for number in range(handed_in.MOST_NOTEBOOKS):
        (folder / f"a{number}.ipynb.bak").write_text(content("older"))
    assert source(folder) == "mine"


def test_a_notebook_in_a_folder_or_an_archive_is_told_with_its_place(folder):
    def said():
        with pytest.raises(Unreadable) as error:
            handed_in.notebook(folder)
        return str(error.value)

    hidden = folder / ".ipynb_checkpoints"
    hidden.mkdir()
    (hidden / "message_passing-checkpoint.ipynb").write_text(content())
    assert said() == f"{NAME} is not there: hand in the notebook under the name {NAME}"
    (folder / "mine").mkdir()
    (folder / "mine" / "elsewhere").symlink_to(folder.parent)  # links are not followed
    (folder / "mine" / "lab").mkdir()
    (folder / "mine" / "lab" / NAME).write_text(content())
    assert f"but mine/lab/{NAME} below it: move that up" in said()
    (folder / "a.ZIP").write_bytes(b"PK")
    assert "but a.ZIP: unpack that" in said()
    deep = folder.joinpath("0", *"abcdefghijk")
    deep.mkdir(parents=True)
    (deep / NAME).write_text(content())
    assert "a.ZIP" in said()
    (folder / "renamed.ipynb").write_text(content("renamed"))
    assert source(folder) == "renamed"


def test_what_is_no_students_folder_of_a_lab_is_told(folder, monkeypatch):
    submitted = folder.parent.parent
    assert handed_in.others(submitted) == "" == handed_in.others(submitted / "nowhere")
    (submitted / "ada" / "notes").mkdir()  # beside a lab's folder anything may lie
    assert handed_in.others(submitted) == ""
    for place in (
        "Bo Bo_123_assignsubmission_file_",
        "chen/01_Message_Passing",
        "ada/02-toy-model (1)",
    ):
        (submitted / place).mkdir(parents=True)
    (submitted / f"{LAB}.zip").write_bytes(b"PK")
    (submitted / ".hidden").mkdir()
    assert handed_in.passed_over(submitted) == [
        f"{LAB}.zip", "Bo Bo_123_assignsubmission_file_", "ada/02-toy-model (1)",
        "chen/01_Message_Passing",
    ]  # fmt: skip
    with pytest.raises(grade.NothingSubmitted, match="passed over, being no STUDENT/.*Bo Bo_123"):
        grade.submissions("03-cifar10-ddp", submitted)
    locked = submitted / "chen"
    monkeypatch.setattr(handed_in.os, "access", lambda path, mode: path != locked)
    assert handed_in.passed_over(submitted)[-1] == "chen (this account may not read it)"
    for number in range(handed_in.MOST_TOLD):
        (submitted / f"z{number}").mkdir()
    assert handed_in.others(submitted).endswith("z5 and 4 more")


def test_the_notebook_of_another_lab_is_named_as_that():
    other = coursedir.released("05-scaling-up")
    (said,) = handed_in.of_another_lab(other, LAB)
    assert "05-scaling-up" in said and f"{NAME} of {LAB}" in said
    assert handed_in.of_another_lab(coursedir.released(LAB), LAB) == []
    assert handed_in.of_another_lab({"nbformat": 4, "cells": []}, LAB) == []


def test_notebooks_beside_the_one_that_counts_are_named_where_they_hold_the_exercises(folder):
    assert handed_in.beside(folder.parent / "02-toy-model") == []
    (folder / NAME).write_text(content("x = 1"))
    (folder / "notes.ipynb").write_text('{"nbformat": 4, "cells": []}')
    assert handed_in.beside(folder) == []
    (folder / "message_passing-Copy1.ipynb").write_text(content("x = 2"))
    (said,) = handed_in.beside(folder)
    assert "message_passing-Copy1.ipynb" in said and f"only {NAME} counts" in said


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_notebook_that_is_exchanged_meanwhile_is_read_itself_or_not_at_all(folder, kind):
    (folder / NAME).write_text(content("own"))
    lure = folder / "lure"
    if kind == "link":
        lure.symlink_to(coursedir.SOLUTIONS / LAB / NAME)
    else:
        os.mkfifo(lure)

    def read():
        return refused_or(lambda: source(folder), Unreadable)

    assert set(exchanging.at_each_moment(read, folder / NAME, lure)) <= {"own", None}
    with exchanging.exchanging(folder / NAME, lure):
        assert outcomes(read) == {"own", None}


@pytest.mark.parametrize("exchanged", ["student", "assignment"])
def test_a_folder_that_is_exchanged_for_a_link_meanwhile_is_not_followed(
    tmp_path, folder, exchanged
):
    (folder / NAME).write_text(content("own"))
    elsewhere = tmp_path / "solutions" / LAB
    elsewhere.mkdir(parents=True)
    (elsewhere / NAME).write_text(content("the solution"))
    taken = folder.parent if exchanged == "student" else folder
    lure = tmp_path / "lure"
    lure.symlink_to(elsewhere.parent if exchanged == "student" else elsewhere)

    def read():
        return refused_or(lambda: source(folder), Unreadable)

    assert set(exchanging.at_each_moment(read, taken, lure)) <= {"own", None}
    with exchanging.exchanging(taken, lure):
        assert outcomes(read) == {"own", None}


def test_time_and_secret_are_read_from_plain_files_of_their_size(folder):
    assert handed_in.timestamp(folder) == "" == handed_in.secret(folder)
    (folder / "timestamp.txt").write_text(f"{WHEN}\n")
    (folder / "submission_secret.txt").write_text(SECRET)
    assert (handed_in.timestamp(folder), handed_in.secret(folder)) == (WHEN, SECRET)
    for name, said in (("timestamp.txt", WHEN), ("submission_secret.txt", SECRET)):
        (folder / name).write_text(said + " " * 1000)
    assert handed_in.timestamp(folder) == "" == handed_in.secret(folder)
    for name in ("timestamp.txt", "submission_secret.txt"):
        (folder / name).unlink()
        os.mkfifo(folder / name)
    assert handed_in.timestamp(folder) == "" == handed_in.secret(folder)


def test_twenty_notebooks_of_other_names_take_what_one_may(folder, monkeypatch):
    (folder / "0.ipynb").write_text(content("found"))
    size = (folder / "0.ipynb").stat().st_size
    for number in range(1, 20):
        (folder / f"{number}.ipynb").write_text('{"nbformat": 4, "cells": []}'.ljust(size))
    taken = []
    plain_file = untrusted.plain_file
    monkeypatch.setattr(
        untrusted, "plain_file", lambda *a, **k: taken.append(a) or plain_file(*a, **k)
    )
    monkeypatch.setattr(submission, "FILE_LIMIT", 3 * size)
    read = []
    scan = submission.notebook_file.without_outputs
    monkeypatch.setattr(
        submission.notebook_file, "without_outputs",
        lambda file, left: read.append(size) or scan(file, left),
    )  # fmt: skip
    assert source(folder) == "found"
    assert len(taken) == handed_in.MOST_NOTEBOOKS and len(read) == 3


def test_a_folder_that_may_not_be_read_is_not_said_to_be_missing(folder, monkeypatch):
    def refuse(path, *args, **kwargs):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("distlab.processes.untrusted.os.open", refuse)
    with pytest.raises(Unreadable, match=r"cannot be read here \(Permission denied\)"):
        handed_in.notebook(folder)


@pytest.mark.parametrize(
    "text", ["2026-11-02 10:00 /etc/localtime", "2026-11-02 10:00 ../zone", "9999-12-31", "now", ""]
)
def test_what_is_no_time_is_none_and_opens_nothing(text, monkeypatch):
    monkeypatch.setattr("builtins.open", lambda *a, **k: pytest.fail(f"opened {a}"))
    assert handed_in.parsed(text) is None
