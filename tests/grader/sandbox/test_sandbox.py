"""Which sandbox is chosen, what is said without one, and another command in its place."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from distlab import course
from distlab.checking import belongings, judge_notebook, room, submission
from distlab.exercises import exercise
from distlab.processes.isolation import Limits
from grader import coursedir, sandbox
from grader.judging import demo
from grader.judging.local import LocalJudges
from grader.sandbox import Grading, NoSandbox, bubblewrap, choose, configured

LAB = "01-message-passing"


def test_the_course_is_configured_for_bubblewrap_with_walls_between_submissions():
    chosen = choose(configured())
    assert chosen.walls and chosen.shared and "bubblewrap" in chosen.name
    assert chosen.limits == Limits()


def test_nothing_of_the_grader_is_to_be_seen_inside(monkeypatch):
    monkeypatch.setenv("A_SECRET", "hunter2")
    look = "import os; print(os.environ, os.listdir('/'), os.listdir('/etc'))"
    look += "; import socket; print(socket.gethostbyname('localhost'))"
    inside = bubblewrap.command(next(bubblewrap.binaries()), True, 1 << 20)
    seen = subprocess.run(
        [*inside, sys.executable, "-c", look],
        env=sandbox.environment(), capture_output=True, text=True, timeout=60, check=True,
    ).stdout  # fmt: skip
    assert "hunter2" not in seen and "SECRET" not in seen
    assert "127.0.0.1" in seen
    assert "'home'" not in seen and "shadow" not in seen
    assert not (coursedir.ROOT / "grader").is_relative_to("/usr") and "grader" not in seen


@pytest.mark.parametrize("walls", [False, True])
def test_only_folders_of_its_own_can_be_written_inside(walls):
    look = """
import os
found = set()
for folder, folders, _ in os.walk("/"):
    folders[:] = [f for f in folders if os.path.join(folder, f) != "/proc"]
    if folder.count("/") > 4:
        folders.clear()
    try:
        with open(os.path.join(folder, "planted"), "w"):
            found.add(folder)
    except OSError:
        pass
print(sorted(found))
with open("/dev/null", "w") as nowhere:  # devices are what they were
    nowhere.write("!")
"""
    inside = bubblewrap.command(next(bubblewrap.binaries()), walls, 1 << 20)
    found = subprocess.run([*inside, sys.executable, "-c", look], capture_output=True, text=True)
    assert found.stdout == "['/dev/shm', '/sandbox']\n", found


def test_without_a_sandbox_it_is_said_in_one_line_what_to_do():
    with pytest.raises(NoSandbox) as refused:
        choose(Grading(sandbox="false"))
    assert "\n" not in str(refused.value)
    assert "user namespaces" in str(refused.value) and "--trust" in str(refused.value)


def test_code_that_is_trusted_needs_none():
    assert choose(Grading(sandbox="false", trust=True)) is sandbox.TRUSTED


def test_another_command_serves_as_the_sandbox(monkeypatch):
    """Without walls inside, which some machines let root put up there: each submission gets a
    zygote of its own.
    """
    tried = sandbox._tried
    monkeypatch.setattr(sandbox, "_tried", lambda *asked: (tried(*asked)[0], ["no walls"]))
    right = demo.handed_in("ada", LAB)
    plan = submission.plan(coursedir.released(LAB), right, course.exercises(LAB))
    judge = LocalJudges(Grading(sandbox="env SITE=apptainer"))
    judge.ready()
    assert not judge.sandbox.shared and judge.sandbox.limits
    assert {line.status for line in judge.lines(LAB, plan)} == {"passed"}
    judge.close()


def test_the_page_on_the_sandbox_names_the_limits_that_hold():
    page = (coursedir.ROOT / "docs" / "sandbox.md").read_text("utf-8")
    limits = Limits()
    for said in (
        f"| `memory` | {limits.memory >> 30} GiB |",
        f"| `processes` | {limits.processes} |",
        f"| `files` | {limits.files} |",
        f"| `disk` | {limits.disk >> 20} MiB |",
        f"| `seconds` | {limits.seconds:.0f} |",
        f"An exercise has {exercise.DEADLINE:.0f} s",
        f"a cell {judge_notebook.CELL_LIMIT:.0f} s and all cells {room.CELLS_LIMIT:.0f} s",
        f"that the student has added {room.ADDED_LIMIT:.0f} s of these",
        f"a rank may return {room.OUTPUT_LIMIT >> 20} MB",
        f"at most {belongings.MOST_FILES:,} with {belongings.MOST_BYTES >> 20} MB together",
        f"{room.FILES} × {limits.files:,} all together",
    ):
        assert said and said in page


def test_subordinate_users_are_found_behind_lines_that_say_something_else(tmp_path):
    listed = tmp_path / "subuid"
    name = bubblewrap.pwd.getpwuid(os.getuid()).pw_name
    listed.write_text(f"# who has which\n\nsomebody:100000:1\n{name}:165536:65536\n{name}:9:9\n")
    assert bubblewrap._listed(listed) == 65536
    listed.write_text(f"{name}:165536:many\n")
    assert bubblewrap._listed(listed) == 0


def test_a_user_that_has_a_number_and_no_name_may_have_subordinate_users_by_number(
    tmp_path, monkeypatch
):
    """As in a container that is run under any number."""
    monkeypatch.setattr(bubblewrap.os, "getuid", lambda: 987_654_321)
    listed = tmp_path / "subuid"
    listed.write_text("somebody:100000:65536\n")
    assert bubblewrap._listed(listed) == 0
    listed.write_text("987654321:100000:65536\n")
    assert bubblewrap._listed(listed) == 65536


def test_folders_above_a_python_whose_path_begins_like_one_of_the_systems_can_be_passed():
    above = bubblewrap._parents([Path("/usr2/local/python"), Path("/usr/lib/python")])
    assert above == [Path("/usr2"), Path("/usr2/local")]
