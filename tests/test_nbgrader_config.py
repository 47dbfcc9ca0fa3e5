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
