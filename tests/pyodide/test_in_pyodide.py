"""Prover, reader and simulator pass their own tests under Pyodide: Python in WebAssembly."""

import re

import pytest
from in_node import missing, pytest_run, run

pytestmark = [
    pytest.mark.slow,  # starts Python in WebAssembly, and runs other tests there
    pytest.mark.skipif(bool(missing()), reason=missing() or "nothing is missing"),
]

#: what a machine in a page does not have: ranks, and files that are no files
LACKS = "not recorded_run_is_played_again_elsewhere and not is_no_record[pipe]"
PARTS = {
    "reader": ("records/test_reading.py", "records/test_records_untrusted.py", 10),
    "simulator": (
        "simulation/test_retiming.py",
        "simulation/test_simulator.py",
        "simulation/test_simulation.py",
        "simulation/test_data_parallel.py",
        120,
    ),
}


def passed(done):
    """How many tests passed, if nothing else happened to any."""
    told = done.stdout[-3000:] + done.stderr[-3000:]
    assert done.returncode == 0, told
    line = done.stdout.strip().splitlines()[-1]
    assert not re.search("failed|error|skipped", line), line
    return int(re.search(r"(\d+) passed", line)[1])


@pytest.mark.parametrize("part", PARTS)
def test_tests_of_the_library_pass_there(part, tmp_path):
    *files, least = PARTS[part]
    done = pytest_run([f"/tests/{file}" for file in files], tmp_path, "-k", LACKS)
    assert passed(done) >= least


@pytest.mark.long  # hundreds of random programs, in Python that is several times as slow
def test_the_provers_tests_pass_there(tmp_path):
    files = ["/tests/records/test_matching.py", "/tests/records/test_choices.py"]
    assert passed(pytest_run(files, tmp_path)) >= 40


def test_a_test_that_fails_there_is_seen(tmp_path):
    (tmp_path / "wrong").mkdir()
    (tmp_path / "wrong" / "test_wrong.py").write_text("def test_wrong():\n    assert 1 == 2\n")
    done = pytest_run(["/wrong/test_wrong.py"], tmp_path, mounts={"/wrong": tmp_path / "wrong"})
    assert done.returncode == 1 and "1 failed" in done.stdout


def test_nothing_of_what_the_page_gets_needs_torch(tmp_path):
    """Every module that is packed for it can be imported there, but those that take torch."""
    program = """
import importlib, pkgutil, sys
sys.path.insert(0, "/src")
import distlab
found = []
for package in ("records", "viz", "simulation"):
    folder = importlib.import_module(f"distlab.{package}")
    for module in pkgutil.walk_packages(folder.__path__, f"distlab.{package}."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as wrong:
            found.append((module.name, wrong.name))
print(found)
"""
    done = run(program, tmp_path, {})
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.strip() == "[('distlab.simulation.schedules', 'torch')]"
