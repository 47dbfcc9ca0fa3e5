"""The lint of batch files: what sbatch takes without a word and what then goes wrong."""

import re

import pytest

from distlab.engines.slurm.batch_file import faults, header
from grader import coursedir

FILES = sorted(
    [*coursedir.SOLUTIONS.glob("*/*.sbatch"), *coursedir.ROOT.glob("deploy/slurm/*.sbatch")]
)
GOOD = """#!/bin/bash
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2        # as many as GPUs
#SBATCH --gpus-per-node=2
#SBATCH -t 00:05:00 -p gpu
##SBATCH --mem=8G

export OMP_NUM_THREADS=1
srun python ring.py "$@"
"""


def changed(old, new):
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_sound_header_is_read_and_has_no_fault():
    found = header(GOOD)
    assert (found.nodes, found.tasks, found.gpus) == (2, 2, 2)
    assert found.options["time"] == "00:05:00" and found.options["partition"] == "gpu"
    assert "mem" not in found.options
    assert faults(GOOD) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (changed("#SBATCH --nodes", "# SBATCH --nodes"),
         "line 2: to Slurm a line that begins with `# SBATCH` is a comment: write "
         "`#SBATCH --nodes=2`"),
        (changed("#SBATCH --nodes", "#sbatch --nodes"), "`#sbatch` is a comment"),
        (changed("#SBATCH --nodes", "#SBTACH --nodes"), "`#SBTACH` is a comment"),
        (changed("#SBATCH --nodes", " #SBATCH --nodes"), "begins with a space is a comment"),
        (GOOD + "#SBATCH --exclusive\n",
         "line 10: sbatch reads no #SBATCH below the first command, which is in line 8"),
        (changed("#SBATCH --nodes=2", "#SBATCH --nodes=2 --ntasks=3"),
         "--ntasks=3 is not --nodes=2 times --ntasks-per-node=2"),
        (changed("--ntasks-per-node=2 ", "--ntasks=1 "), "leaves some of --nodes=2 without a task"),
        (changed("gpus-per-node=2", "gpus-per-node=1"), "2 tasks and 1 GPU on a node"),
        (changed("gpus-per-node=2", "gres=gpu:a100:3"), "2 tasks and 3 GPUs on a node"),
        (changed("gpus-per-node=2", "gpus=2"), "2 tasks and 1 GPU on a node"),
        (changed("gpus-per-node=2", "nodes=3"), "line 4: --nodes=3 contradicts --nodes=2 above"),
        (changed("--gpus-per-node=2", "--output=$HOME/x"), "puts no variables into its header"),
        (changed("--gpus-per-node=2", "--output='x"), "line 4: a quotation mark is never closed"),
        (changed("srun", "srun torchrun --nproc-per-node=2"),
         "srun starts torchrun 2 times on each node"),
        (changed("srun", "srun --ntasks-per-node=1 torchrun"),
         "write srun --ntasks=$SLURM_NNODES --ntasks-per-node=1 torchrun"),
        (changed("gpus-per-node=2", "cpus-per-task=3"), "does not take over --cpus-per-task=3"),
        (changed("#!/bin/bash\n", ""), "begins with #!/bin/bash"),
    ],
)  # fmt: skip
def test_each_fault_is_one_sentence_that_says_where_and_what(text, said):
    (found,) = faults(text)
    assert said in found and "\n" not in found


@pytest.mark.parametrize(
    "text",
    [
        changed("gpus-per-node=2", "gpus-per-node=4"),  # two GPUs for each rank
        changed("--ntasks-per-node=2 ", "--ntasks-per-node=1 "),  # torchrun, or mp.spawn
        changed("gpus-per-node=2", "gpus-per-task=1"),
        changed("--nodes=2", "--nodes=2-4"),  # Slurm decides
        changed("srun", 'srun -n "$SLURM_NNODES" --ntasks-per-node=1 torchrun'),
        changed("gpus-per-node=2", "cpus-per-task=3").replace("srun", "srun -c 3"),
        GOOD + "# sbatch prints the job's number; SBATCH is its mark\n",
    ],
)
def test_what_is_right_is_left_alone(text):
    assert faults(text) == []


def test_options_of_the_command_line_win_over_the_header():
    assert faults(GOOD, {"gpus-per-node": 1}) != []
    assert faults(changed("gpus-per-node=2", "gpus-per-node=1"), {"ntasks-per-node": 1}) == []


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_course_s_own_batch_files_have_no_fault(path):
    text = path.read_text()
    assert faults(text) == []
    # as they are on a cluster with GPUs, and with the other way to start that they show
    assert faults(re.sub("^##SBATCH", "#SBATCH", text, flags=re.M)) == []
    assert faults(re.sub(r"^# (?=srun|   )", "", text, flags=re.M)) == []
