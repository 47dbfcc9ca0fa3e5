"""Submissions that attack the grader or are broken cost what they sit in, and nothing else."""

import pytest
from hostile import trial

# they compare what the machine has before and afterwards
pytestmark = pytest.mark.alone

#: of every kind one that is quick
QUICK = {
    "honest00", "exit_in_cell", "kill_the_judge", "forged_error", "read_the_secrets",
    "hidden_to_the_next_exercise", "relay_without_a_message", "predicted_seeds",
    "look_for_the_secret", "kill_the_process_group", "not_utf8", "metadata_of_lists",
    "lone_surrogates", "script_in_answer", "*", "[red]x[bold]", "timestamp_of_nothing",
}  # fmt: skip


def check(graded: trial.Trial) -> None:
    print(f"\n{trial.table(graded)}")
    found = trial.findings(graded)
    assert not found, "\n".join(found)


@pytest.mark.slow  # a dozen attacks, some of which hang until their deadline
def test_a_few_of_each_kind_are_contained():
    check(trial.run(QUICK))


@pytest.mark.long
@pytest.mark.slow  # a hundred attacks, many of which hang until their deadline
def test_every_hostile_submission_is_contained_and_every_honest_score_exact():
    graded = trial.run()
    check(graded)
    kinds = [entry.kind for entry in graded.entries]
    assert kinds.count("honest") == 20 and len(kinds) - 20 >= 40
