"""What notebooks and scripts import from distlab, and what keeps them from it."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize("name", ["random", "select"])
def test_a_file_that_stands_in_for_a_module_is_named(tmp_path, name):
    in_the_way = tmp_path / f"{name}.py"
    in_the_way.write_text("mine = 1\n")
    (tmp_path / "program.py").write_text("from distlab import Ranks, check\n")
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    said = f"{in_the_way} is imported in place of the module {name}: give it another name"
    assert done.returncode == 1 and done.stderr.splitlines()[-1] == f"ImportError: {said}"


def test_without_such_a_file_an_import_that_fails_is_told_as_it_is(tmp_path):
    program = "import sys\nsys.modules['cloudpickle'] = None\nfrom distlab import Ranks, check\n"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert "import of cloudpickle halted" in done.stderr.splitlines()[-1]
