"""Every collected answer is judged as it states: right ones pass in full, wrong ones fail with
their hint. As by the grader, what may be the machine's fault is judged once more with the machine
to itself.
"""

import concurrent.futures
import math

import pytest
from optional import here

from distlab import course
from grader import collected
from grader.judging.lending import Turns

#: answers that import torch in processes of their own; of the others half of the time is waiting
SPAWNING = {"setup", "run_demo"}
#: the lab whose answers `make test` judges, and those that `make test-slow SLOW=short` adds.
#: (and of lab 02 one exercise). Each answer takes a second of a processor, and there are 2,000:
#: `make test-slow` judges all
QUICK, SHORT = {"01-message-passing"}, {"04-ring-allreduce", "06-model-parallel"}
ALSO_SHORT = {"setup"}
#: of a lab with frameworks of its own, whose answers take seconds each, `make test-frameworks`
#: judges the right ones and every third of the wrong ones; all with SLOW=all
THINNED = 3
ENDLESS = 6.0  # seconds that `make test` waits for an answer that never returns, twice
SLOW, LONG = [pytest.mark.slow], [pytest.mark.slow, pytest.mark.long]


def parts(lab, name):
    """{which of an exercise's answers: the marks of the test that judges them}"""
    if course.needs(lab):
        return {"some": [], "others": LONG}
    if lab in QUICK:
        return {"": []}
    return {"": SLOW if lab in SHORT or name in ALSO_SHORT else LONG}


def chosen(answers, part):
    right, wrong = ([a for a in answers if a.right is kind] for kind in (True, False))
    some = [*right, *wrong[::THINNED]]
    return {"": answers, "some": some, "others": [a for a in answers if a not in some]}[part]


EXERCISES = [
    here(lab, name, part, id="-".join(filter(None, (name, part))), marks=marks)
    for lab in course.LABS
    for name in course.exercises(lab)
    for part, marks in parts(lab, name).items()
]


@pytest.mark.parametrize(("lab", "name", "part"), EXERCISES)
def test_every_collected_answer_is_judged_as_it_states(lab, name, part, zygote_for):
    collection = list(collected.answers(lab, name))
    answers = chosen(collection, part)
    source, turns = zygote_for(lab), Turns()
    hurry = ENDLESS if lab in QUICK else math.inf

    def complaint(answer):
        late = answer.expected.get("status") == "timeout"
        grader = collected.grader(lab, [name], hurry if late else math.inf)
        plan = grader.plan(collected.handed_in(lab, **{name: answer.source}))
        said = answer.complaint(grader.grade(plan, source, turns)[0])
        return said and f"{answer.path.name}: {said}"

    at_once = 2 if name in SPAWNING or course.needs(lab) else 4
    with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
        complaints = [said for said in pool.map(complaint, answers) if said]
    assert not complaints, "\n".join(complaints)
    assert sum(answer.right for answer in collection) >= 1
    assert sum(not answer.right for answer in collection) >= 3
