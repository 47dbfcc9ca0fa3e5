"""Solutions with their inputs on a pretended GPU: no harness takes it for granted that tensors lie
on the CPU. Both ways of `grader.gpu.steps.places`: new tensors lie there too, or inputs alone.
"""

import itertools

import pretended
import pytest

from distlab import course
from distlab.engines import by_value
from grader.gpu import plan
from grader.gpu.steps import answers, places

#: of each kind of harness one: for tensors, for a model, with memory that is counted, and so on
QUICK = {
    "01-message-passing": ["broadcast_from"],
    "02-toy-model": ["average_gradients"],
    "06-model-parallel": ["stage_backward"],
    "10-sharding-and-overlap": ["checkpointed"],
    "11-long-sequences-and-experts": ["dispatch_combine"],
}


@pytest.fixture(scope="module", autouse=True)
def on_the_pretended_gpu():
    plain = by_value.dumps
    with pytest.MonkeyPatch.context() as patched, pretended.own_ranks():
        patched.setattr(answers.by_value, "dumps", lambda one: pretended.on_ranks(plain(one)))
        yield


def failures(lab, names):
    """What is said of the lab's solutions in either way, where something is."""
    for name, exercise, module in itertools.islice(answers.every(lab), len(course.exercises(lab))):
        if exercise.name in names and places.has_tensors(exercise):
            for new_ones in (True, False):
                device = pretended.KIND, new_ones
                verdict = answers._verdict(exercise, getattr(module, exercise.name), device)
                if verdict.status != "passed":
                    yield f"{name} {new_ones}: {verdict.status}: {verdict.message}"


@pytest.mark.parametrize("lab", QUICK)
def test_a_solution_is_right_on_a_gpu(lab):
    assert not list(failures(lab, QUICK[lab]))


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.parametrize("lab", [lab for lab in plan.ON_TENSORS if lab not in places.OWN_DEVICE])
def test_all_solutions_are_right_on_a_gpu(lab):
    assert not list(failures(lab, course.exercises(lab)))
