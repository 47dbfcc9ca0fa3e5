"""What becomes of a command whose output nobody reads any more."""

import os
import subprocess
import sys

PROGRAM = """
import sys
from grader.reports.output import output

console = output()
for _ in range(3):
    console.print("a row of a table")
print("a line of its own", flush=True)
open(sys.argv[1], "w").close()
"""


def test_who_stops_reading_ends_no_command(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, tmp_path / "at its end"], stdout=writing,
        stderr=subprocess.PIPE, text=True, timeout=120,
    )  # fmt: skip
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "at its end").exists()


def test_a_pipe_has_room_for_a_table(capsys):
    from grader.reports.output import output

    output().print("x" * 150)
    assert capsys.readouterr().out == "x" * 150 + "\n"
