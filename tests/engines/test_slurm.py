"""`distlab submit` before anything is submitted: what becomes of what was asked for."""

import json

import pytest
from command_line import distlab

from distlab.engines.slurm import batch_file, submit, task
from grader import coursedir

RING = coursedir.SOLUTIONS / "04-ring-allreduce" / "ring.sbatch"
SCRIPT = RING.with_suffix(".py")
NOTEBOOK = RING.with_name("ring_allreduce.ipynb")


def test_a_batch_file_is_handed_on_with_its_arguments():
    assert submit.planned(RING, ["--repeats", 3], nodes=1, time="5") == (
        ["--nodes=1", "--time=5", str(RING), "--repeats", "3"], None,
    )  # fmt: skip


def test_a_script_gets_a_batch_file_of_its_own():
    words, text = submit.planned(SCRIPT, ["--bytes", "64"], nodes=2, ranks=4, gpus=2)
    asked = batch_file.header(text)
    assert words == [] and (asked.nodes, asked.tasks, asked.gpus) == (2, 2, 2)
    assert "distlab.engines.slurm.task ring.py --bytes 64\n" in text
    assert "export MASTER_ADDR=$(scontrol show hostnames" in text


def test_what_a_shell_would_take_apart_stays_together(tmp_path):
    odd = tmp_path / "a b$c.py"
    odd.touch()
    _, text = submit.planned(odd, ["d e", "$HOME"])
    assert "'a b$c.py' 'd e' '$HOME'\n" in text


@pytest.mark.parametrize(
    ("program", "options", "said"),
    [
        ("nothing.sbatch", {}, "nothing.sbatch is not there"),
        (coursedir.ROOT / "README.md", {}, "is no batch file"),
        (NOTEBOOK, {}, "--function"),
        (SCRIPT, {"function": "x"}, "--function is for notebooks"),
        (SCRIPT, {"nodes": 2, "ranks": 3}, "3 ranks cannot be spread evenly over 2 nodes"),
        (SCRIPT, {"ranks": 0}, "0 ranks make no job"),
        (SCRIPT, {"ranks": 4, "gpus": 2}, "4 tasks and 2 GPUs on a node"),
        (RING, {"gpus": 1}, "ring.sbatch: 2 tasks and 1 GPU on a node"),
    ],
)
def test_what_makes_no_job_is_refused_with_what_to_change(program, options, said):
    with pytest.raises(submit.Refused, match=said) as refused:
        submit.planned(program, **options)
    assert refused.value._render_traceback_() == [f"Refused: {refused.value}"]


def test_a_broken_header_is_refused_in_one_line(tmp_path):
    path = tmp_path / "broken.sbatch"
    path.write_text("#!/bin/bash\n# SBATCH --nodes=2\n#SBTACH -n 4\nsrun hostname\n")
    done = distlab("submit", path)
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "broken.sbatch: line 2: to Slurm a line that begins with `# SBATCH`" in done.stderr
    assert "(and 1 more)" in done.stderr


def test_dry_run_shows_what_sbatch_would_be_given_and_needs_no_slurm():
    done = distlab("submit", SCRIPT, "--dry-run", "--nodes", "2", "--", "--nodes", "7")
    assert done.returncode == 0, done.stderr
    assert "#SBATCH --nodes=2" in done.stdout and "ring.py --nodes 7" in done.stdout


def test_a_task_finds_torchrun_s_variables_made_from_slurm_s():
    env = {
        "SLURM_PROCID": "5", "SLURM_NTASKS": "6", "SLURM_LOCALID": "0", "SLURM_NODEID": "2",
        "SLURM_STEP_TASKS_PER_NODE": "2(x2),1,1",
    }  # fmt: skip
    task.say_who(env)
    assert [env[name] for name in ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE")] == [
        "5", "6", "0", "1",
    ]  # fmt: skip


def test_a_notebook_shows_the_state_above_the_last_lines(monkeypatch):
    shown = []

    class Handle:
        def update(self, it):
            shown.append(repr(it))

    import IPython.display

    monkeypatch.setattr(IPython.display, "display", lambda it, display_id: Handle())
    screen = submit._Display()
    screen.state(submit.Status(3, "RUNNING", nodes="n1"))
    for number in range(30):
        screen.line(f"line <{number}>")
    lines = shown[-1].split("\n")
    assert lines[:2] == ["job 3 runs on n1", "… 10 lines above"] and lines[-1] == "line <29>"
    assert "line &lt;29&gt;" in screen._repr_html_()


def test_submit_can_be_imported_without_torch():
    import subprocess
    import sys

    program = "import sys; from distlab import submit; print(json.dumps('torch' in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", f"import json\n{program}"], capture_output=True, text=True
    )
    assert done.returncode == 0 and json.loads(done.stdout) is False
