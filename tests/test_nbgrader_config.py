"""The course's configuration is read wherever nbgrader is started."""

import os
import subprocess
import sys

from grader.coursedir import ROOT

READ = """
from traitlets.config.loader import PyFileConfigLoader
print(PyFileConfigLoader("nbgrader_config.py").load_config().CourseDirectory.root)
"""


def test_it_is_read_where_the_environment_has_no_path():
    done = subprocess.run(
        [sys.executable, "-c", READ], cwd=ROOT, env={"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == str(ROOT)


AGAIN = """
import os, sys
from grader.sandbox import configured
configured()
once = os.environ["PATH"], list(sys.path)
configured()
assert (os.environ["PATH"], sys.path) == once
"""


def test_a_process_that_reads_it_for_every_submission_does_not_add_to_its_path_each_time():
    """The kernel starts no program whose PATH has 128 KiB."""
    subprocess.run([sys.executable, "-c", AGAIN], cwd=ROOT, timeout=60, check=True)
