"""`distlab check` judges what a notebook's cells define, whatever else they hold."""

import json
from pathlib import Path

import pytest

from distlab import course
from distlab.checking.check_notebook import check_notebook, report
from distlab.exercises.verdict import Verdict
from grader import collected, coursedir, paths

LAB = "04-ring-allreduce"
TODO = 'raise NotImplementedError("TODO {}")'


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory):
    """By exercise, the verdicts on a notebook that was checked once for all."""
    folder = tmp_path_factory.mktemp("lab")
    for file in (paths.LABS / LAB).glob("reference.*"):
        (folder / file.name).write_bytes(file.read_bytes())
    solution = coursedir.solution(LAB)
    right = {
        name: collected.source_of(solution, name) for name in ("ring_time", "parameter_server_time")
    }
    content = collected.handed_in(
        LAB,
        ring_time=f"# TODO: say where this comes from\n{right['ring_time']}",
        parameter_server_time=f"{right['parameter_server_time']}\nimport asyncio\n"
        "raise asyncio.CancelledError",
        ring_all_gather="",
        ring_all_reduce=f"def ring_all_reduce(rank, size, tensor):\n    x = (\n"
        f"    {TODO.format('ring_all_reduce')}",
        ring_reduce_scatter="from package.of_mine import ring_reduce_scatter",
        sync_parameter_server="from distlab.notebook import load\n"
        "sync_parameter_server = load('of_mine.ipynb').sync_parameter_server",
    )
    (folder / "package").mkdir()
    (folder / "package" / "of_mine.py").write_text(
        "import torch\nimport torch.distributed as dist\n"
        + collected.source_of(solution, "ring_reduce_scatter")
    )
    (folder / "of_mine.ipynb").write_text(json.dumps(solution))
    path = folder / course.notebook_name(LAB)
    path.write_text(json.dumps(content))
    return {one.exercise.name: one for one in check_notebook(path)}


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("ring_time", "passed"),  # its cell holds the word TODO
        ("parameter_server_time", "passed"),  # its cell raises after it
        ("ring_reduce_scatter", "passed"),  # it lies beside the notebook, elsewhere than we are
        ("sync_parameter_server", "passed"),  # it is loaded from another notebook there
        ("ring_all_gather", "unanswered"),  # its cell is empty
        ("ring_all_reduce", "error"),  # begun, and no Python
        ("async_parameter_server", "unanswered"),  # as it was released
    ],
)
def test_an_answer_counts_where_something_is_written(verdicts, name, status):
    assert verdicts[name].status == status, verdicts[name].message


def test_a_report_names_the_student_whose_folder_it_is_from_within_it_too(tmp_path, monkeypatch):
    folder = tmp_path / "ada" / LAB
    folder.mkdir(parents=True)
    verdict = Verdict(course.exercises(LAB)["ring_time"], "passed")
    monkeypatch.chdir(folder)
    for path in (folder / "ring.ipynb", Path("ring.ipynb")):
        (submission,) = report(path, [verdict])["submissions"]
        assert submission["student"] == "ada"
