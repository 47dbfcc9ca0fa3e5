"""Which labs do without what trains: `distlab.course.trains`."""

import json
import subprocess
import sys

import pytest

from distlab import course
from grader.paths import ROOT

CODE = """
import json, sys, tempfile
from pathlib import Path

import cloudpickle

from distlab.processes import forkserver
from distlab.processes.zygote import FIRST_PRELOAD

for name in FIRST_PRELOAD:
    forkserver.load_ahead(name)

from distlab import course, notebook
from distlab.engines import by_value, runs
from distlab.engines.forked import ForkedEngines
from grader import coursedir


def imported(rank, size):
    import sys

    return "torch._dynamo" in sys.modules


lab = sys.argv[1]
found = {"this process": "torch._dynamo" in sys.modules}
answers = notebook.load(coursedir.SOLUTIONS / lab / course.notebook_name(lab))
for name, exercise in course.exercises(lab).items():
    case = exercise.visible[0]
    with tempfile.TemporaryDirectory() as folder:
        engines = ForkedEngines(case.size, Path(folder))
        try:
            run = runs.drive(
                engines, by_value.dumps(getattr(answers, name)),
                exercise.payloads(exercise.inputs(case)), harness=exercise.id,
                group=exercise.group, strict=True, deadline=exercise.deadline,
            )
            assert run.ok, (name, run.outcomes)
            inputs = [cloudpickle.dumps(((rank, case.size), {})) for rank in range(case.size)]
            run = runs.drive(engines, cloudpickle.dumps(imported), inputs)
            found[name] = any(cloudpickle.loads(one.output) for one in run.outcomes)
        finally:
            engines.close()
print(json.dumps(found))
"""


@pytest.mark.parametrize("lab", [lab for lab in course.LABS if not course.trains(lab)])
def test_the_solutions_of_a_lab_that_does_not_train_import_nothing_of_it(lab):
    done = subprocess.run(
        [sys.executable, "-c", CODE, lab], cwd=ROOT, capture_output=True, text=True, timeout=300
    )
    assert not done.returncode, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert not any(told.values()) and len(told) == 1 + len(course.exercises(lab))
