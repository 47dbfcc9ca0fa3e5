"""Every collected answer is judged as it states: right ones pass in full, wrong ones fail with
their hint. As by the grader, what may be the machine's fault is judged once more with the machine
to itself.
"""

import concurrent.futures

import pytest
from optional import here

from distlab import course
from grader import collected
from grader.judging.lending import Turns

#: answers that import torch in processes of their own; of the others half of the time is waiting
SPAWNING = {"setup", "run_demo"}
#: the lab whose answers `make test` judges, and those that `make test-slow SLOW=short` adds.
#: Each answer takes a second of a processor, and there are 2,000: `make test-slow` judges all
QUICK, SHORT = {"01-message-passing"}, {"04-ring-allreduce", "06-model-parallel"}


def marks(lab, name):
    if lab in QUICK or course.needs(lab):  # the latter are in `make test-frameworks`
        return []
    slow = [pytest.mark.slow]
    return slow if lab in SHORT or name in SPAWNING else [*slow, pytest.mark.long]


EXERCISES = [
    here(lab, name, id=name, marks=marks(lab, name))
    for lab in course.LABS
    for name in course.exercises(lab)
]


@pytest.mark.parametrize(("lab", "name"), EXERCISES)
def test_every_collected_answer_is_judged_as_it_states(lab, name, zygote_for):
    answers = list(collected.answers(lab, name))
    grader = collected.grader(lab, [name])
    source, turns = zygote_for(lab), Turns()

    def complaint(answer):
        plan = grader.plan(collected.handed_in(lab, **{name: answer.source}))
        said = answer.complaint(grader.grade(plan, source, turns)[0])
        return said and f"{answer.path.name}: {said}"

    at_once = 2 if name in SPAWNING or course.needs(lab) else 4
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        complaints = [said for said in pool.map(complaint, answers) if said]
    assert not complaints, "\n".join(complaints)
    assert sum(answer.right for answer in answers) >= 1
    assert sum(not answer.right for answer in answers) >= 3
