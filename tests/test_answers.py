"""Every collected answer is judged as it states: right ones pass in full, wrong ones fail with
their hint.
"""

import concurrent.futures

import collected
import pytest
from optional import here

from distlab import course as labs

#: answers that import torch in processes of their own; of the others half of the time is waiting
SPAWNING = {"setup", "run_demo"}
EXERCISES = [
    here(lab, name, id=name, slow=name in SPAWNING)
    for lab in labs.LABS
    for name in labs.exercises(lab)
]


@pytest.mark.parametrize(("lab", "name"), EXERCISES)
def test_every_collected_answer_is_judged_as_it_states(lab, name, zygote_for):
    answers = list(collected.answers(lab, name))
    grader = collected.grader(lab, [name])
    source = zygote_for(lab)

    def complaint(answer):
        plan = grader.plan(collected.handed_in(lab, **{name: answer.source}))
        said = answer.complaint(grader.grade(plan, source)[0])
        return said and f"{answer.path.name}: {said}"

    with concurrent.futures.ThreadPoolExecutor(2 if name in SPAWNING else 4) as pool:
        complaints = [said for said in pool.map(complaint, answers) if said]
    assert not complaints, "\n".join(complaints)
    assert sum(answer.right for answer in answers) >= 1
    assert sum(not answer.right for answer in answers) >= 3
