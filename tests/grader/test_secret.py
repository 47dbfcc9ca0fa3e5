"""Hidden inputs come from a secret: who has the repository alone can't compute them."""

import dataclasses
import errno
import json
import math
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from optional import here

from distlab import course
from distlab.checking.judge_notebook import Grader, Lab
from distlab.course import find
from distlab.engines.outcomes import Outcome, Run
from distlab.exercises.exercise import LARGE, Case
from distlab.exercises.judge import judge
from distlab.exercises.reference import NoReference
from distlab.processes import payload
from grader import collected, commands, coursedir, secret
from grader.judging import record, referee
from grader.judging.grade import GradingFailed
from grader.judging.ledger import Ledger

LAB = "01-message-passing"
EXERCISES = [e for lab in course.LABS for e in course.exercises(lab).values()]
#: a question, whose answer is the same for everybody
WITHOUT_NUMBERS = {"what_is_wrong"}
#: their values say nothing: a rule judges those of the first, and the second's are how far two runs
#: on one rank are apart, which is nothing for whoever is right
WITHOUT_VALUES = {"half_precision_hook", "checkpointed"}
#: texts, numbers that are sizes, and moments that are `None` for who does not call
OF_ANY_OUTLINE = {"world_from_env", "split_layers", "first_divergence", "roll_call", "rendezvous"}
#: a secret that has no references; where it lies matters to nobody
OTHER = secret.Secret(bytes(range(32)), Path("/nowhere/secret"))


def distlab(*words, home, **env):
    return subprocess.run(
        [sys.executable, "-m", "distlab", *words], cwd=coursedir.ROOT, timeout=300,
        capture_output=True, text=True,
        env={n: v for n, v in os.environ.items() if n not in (secret.VARIABLE, "XDG_DATA_HOME")}
        | {"HOME": str(home), **env},
    )  # fmt: skip


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    return tmp_path_factory.mktemp("home")


@pytest.fixture(scope="module")
def made(home):
    """`distlab secret new`, for one lab, in a home of its own."""
    done = distlab("secret", "new", LAB, home=home)
    assert done.returncode == 0, done.stdout + done.stderr  # which solution failed is on stdout
    return done


@pytest.fixture(scope="module")
def own(made, home):
    return secret.read(home / ".local/share/distlab/secret")


# the command


def test_a_new_secret_lies_outside_of_the_repository_for_its_owner_alone(made, own, home):
    assert stat.S_IMODE(own.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(own.references.stat().st_mode) == 0o700
    assert own.references.is_relative_to(home) and not own.references.is_relative_to(coursedir.ROOT)
    assert {path.name for path in own.references.iterdir()} == {f"{LAB}.json", f"{LAB}.safetensors"}
    git = ["git", "status", "--porcelain", "--", "grader/reference", "solutions"]
    before = subprocess.run(git, cwd=coursedir.ROOT, capture_output=True, check=True).stdout
    assert own.fingerprint.encode() not in before


def test_it_says_which_labs_are_left_and_never_the_secret(made, own):
    assert f"{LAB}: " in made.stdout and own.fingerprint in made.stdout
    assert "distlab reference record 02-toy-model" in made.stdout
    assert own.key.hex() not in made.stdout + made.stderr


def test_a_second_secret_is_refused_and_with_force_the_first_is_kept(own, tmp_path):
    there = tmp_path / "secret"
    secret.keep(secret.draw(there))
    first = secret.read(there)
    with pytest.raises(secret.SecretUnusable, match="--force"):
        secret.draw(there)
    kept = secret.keep(secret.draw(there, force=True))
    assert secret.read(kept).key == first.key
    assert secret.read(there).fingerprint != first.fingerprint


def test_the_old_secret_is_kept_where_the_file_system_has_no_hard_links(tmp_path, monkeypatch):
    def link(*_):
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    there = tmp_path / "secret"
    secret.keep(first := secret.draw(there))
    monkeypatch.setattr(secret.os, "link", link)
    kept = secret.keep(second := secret.draw(there, force=True))
    assert secret.read(kept) == secret.Secret(first.key, kept) and secret.read(there) == second
    assert {path.name for path in tmp_path.iterdir()} == {"secret", kept.name}


def test_of_a_secret_that_cannot_be_written_nothing_is_left(tmp_path, monkeypatch):
    def recorded(chosen):
        secret.current().references.mkdir()
        return [], False

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    there = tmp_path / "secret"
    secret.keep(first := secret.draw(there))
    monkeypatch.setattr(commands, "_recorded", recorded)
    monkeypatch.setattr(secret.os, "fsync", full)
    with pytest.raises(secret.SecretUnusable, match="make room"):
        commands.new_secret([LAB], there, force=True)
    assert list(tmp_path.iterdir()) == [there] and secret.read(there) == first


def test_the_commands_say_which_secret_is_in_use(own, home):
    said = distlab("info", home=home).stdout
    assert own.fingerprint in said and own.key.hex() not in said
    said = distlab("info", home=home, DISTLAB_SECRET="public").stdout
    assert secret.PUBLIC_SECRET.fingerprint in said and "distlab secret new" in said


@pytest.mark.slow  # runs all solutions of a lab
def test_references_are_verified_with_the_secret_in_use(own, home):
    done = distlab("reference", "verify", LAB, home=home)
    assert done.returncode == 0 and f"{LAB}: as recorded" in done.stdout
    assert own.fingerprint in done.stdout


def test_grade_says_which_secret_it_used(own, home, tmp_path):
    collected.hand_in(tmp_path, "ada", LAB, collected.handed_in(LAB))
    env = {"DISTLAB_GRADES": str(tmp_path), "home": home}
    done = distlab("grade", LAB, **env)
    assert done.returncode == 0, done.stderr
    assert f"the course's own secret ({own.fingerprint})" in done.stdout
    page = (tmp_path / "out" / f"{LAB}.html").read_text()
    assert own.fingerprint in page
    done = distlab("grade", LAB, DISTLAB_SECRET="public", **env)
    assert "the public secret" in done.stdout and "distlab secret new" in done.stdout
    written = "".join(p.read_text("utf-8", "replace") for p in tmp_path.rglob("*.*") if p.is_file())
    assert own.key.hex() not in written + done.stdout


def test_a_lab_that_was_not_recorded_is_not_graded(own, home, tmp_path):
    lab = "04-ring-allreduce"
    collected.hand_in(tmp_path, "ada", lab, collected.handed_in(lab))
    done = distlab("grade", lab, home=home, DISTLAB_GRADES=str(tmp_path))
    assert done.returncode == 1 and f"distlab reference record {lab}" in done.stderr
    assert not (tmp_path / "gradebook.db").exists()
    with secret.using(own), pytest.raises(GradingFailed, match="reference record"):
        coursedir.need_references(lab)


def test_a_secret_that_is_named_and_not_there_is_never_replaced_by_the_public_one(tmp_path):
    done = distlab("reference", "verify", home=tmp_path, DISTLAB_SECRET=str(tmp_path / "gone"))
    assert done.returncode == 1 and "distlab secret new" in done.stderr


def test_a_secret_that_others_can_read_is_refused(own, tmp_path):
    path = tmp_path / "secret"
    path.write_text(own.key.hex())
    for mode in (0o644, 0o640, 0o604):
        path.chmod(mode)
        with pytest.raises(secret.SecretUnusable, match="chmod 600"):
            secret.read(path)
    path.chmod(0o600)
    assert secret.read(path).key == own.key


@pytest.mark.parametrize("folder", [sys.prefix, str(coursedir.ROOT), "/usr/share"])
def test_no_secret_is_kept_where_student_code_or_the_repository_shows_it(folder):
    with pytest.raises(secret.SecretUnusable, match="no place for a secret"):
        secret.draw(Path(folder, "secret"))
    with pytest.raises(secret.SecretUnusable, match="no place for a secret"):
        secret.read(Path(folder, "secret"))


def test_an_engine_with_another_secret_does_not_judge(own):
    with secret.using(OTHER):  # so that this process's own is as before
        secret.adopt(own.path, own.fingerprint)
        assert secret.current() == own
        with pytest.raises(secret.SecretUnusable, match="another secret"):
            secret.adopt(own.path, OTHER.fingerprint)


# verdicts


class Judges:
    """Judges that count how often they are asked."""

    slots = 1

    def __init__(self):
        self.asked = 0

    def lines(self, lab, plan, whose=None, lanes=1):
        self.asked += 1
        return referee.unreadable_lines(lab)

    def close(self):
        pass


def test_verdicts_that_another_secret_has_given_are_stale(tmp_path):
    judges = Judges()
    with referee.Referee(Ledger(tmp_path), judges) as one:
        rebuilt, repaired = one.rebuild(LAB, collected.handed_in(LAB))
        for _ in range(2):
            one.judge(LAB, "ada", rebuilt, repaired)
        assert judges.asked == 1
        with secret.using(OTHER):
            for _ in range(2):
                one.judge(LAB, "ada", rebuilt, repaired)
        assert judges.asked == 2


# what the repository tells of hidden inputs


def under(used, exercise):
    with secret.using(used):
        return coursedir.hidden(exercise.lab)[exercise.name]


def given(exercise, case):
    return exercise.payloads(exercise.inputs(case))


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_no_exercise_has_the_same_hidden_inputs_under_another_secret(exercise):
    """What is fixed are corner cases: zero, one, nothing."""
    pairs = list(zip(under(secret.current(), exercise), under(OTHER, exercise), strict=True))
    other = [case for case, twin in pairs if given(exercise, case) != given(exercise, twin)]
    assert other or exercise.name in WITHOUT_NUMBERS


@pytest.mark.parametrize("exercise", EXERCISES, ids=lambda e: e.id)
def test_sizes_shapes_and_dtypes_are_those_of_every_secret(exercise):
    for case, twin in zip(under(secret.current(), exercise), under(OTHER, exercise), strict=True):
        if exercise.name in OF_ANY_OUTLINE:
            continue
        assert outline(exercise.inputs(case)) == outline(exercise.inputs(twin))


def outline(tree):
    if isinstance(tree, np.ndarray):
        return tree.shape, tree.dtype
    if isinstance(tree, dict):
        return {name: outline(value) for name, value in tree.items()}
    if isinstance(tree, (list, tuple)):
        return [outline(value) for value in tree]
    return type(tree)


def test_ranks_of_a_case_have_streams_of_their_own():
    case = Case(3, 101, {}, True, b"k" * 16)
    streams = {
        (rank, stream): case.generator(rank, stream).bit_generator.state["state"]["key"].tolist()
        for rank in range(-1, 3)
        for stream in range(3)
    }
    assert len({tuple(key) for key in streams.values()}) == len(streams)
    twin = dataclasses.replace(case, entropy=b"l" * 16)
    assert not np.array_equal(case.draw(0), twin.draw(0))
    assert np.array_equal(case.draw(1), dataclasses.replace(case, seed=7).draw(1))


def test_seeds_of_hidden_cases_have_128_bits_and_no_two_are_equal():
    every = [case.entropy for e in EXERCISES for case in under(OTHER, e)]
    assert {len(one) for one in every} == {16} and len(set(every)) == len(every)


def test_no_seed_shows_in_what_is_printed_or_written_of_a_case():
    for exercise in EXERCISES:
        for case in under(OTHER, exercise):
            shown = f"{case!r} {case.key} {case.told()} {OTHER!r} {OTHER.told()}"
            assert case.entropy.hex() not in shown and repr(case.entropy)[2:-1] not in shown
            assert OTHER.key.hex() not in shown


def test_files_of_students_hold_nothing_of_hidden_cases():
    for lab in course.LABS:
        text = (coursedir.LABS / lab / "reference.json").read_text("utf-8")
        content = json.loads(text)["exercises"]
        for exercise in course.exercises(lab).values():
            assert set(content[exercise.name]) == {case.key for case in exercise.visible}
            for case in under(secret.PUBLIC_SECRET, exercise):
                assert f'"inputs": {exercise.fingerprint(case)},' not in text


def test_no_file_of_students_tells_a_right_set_of_letters_from_a_wrong_one():
    exercise = course.exercises("02-toy-model")["what_is_wrong"]
    (visible,), (hidden,) = exercise.visible, under(secret.PUBLIC_SECRET, exercise)
    (inputs,) = exercise.inputs(visible)
    said = {exercise.call(set(some), 0, 1, inputs) for some in ("", "A", "ABD", "BCE", "ABCDEF")}
    assert said == set(coursedir.reference(exercise, visible)) and len(said) == 1
    (inputs,) = exercise.inputs(hidden)
    assert exercise.call({"A", "C"}, 0, 1, inputs) != exercise.call({"A", "B"}, 0, 1, inputs)


# attacks with all that the repository holds


class Table:
    """Answers with what the public secret's cases give, in the order in which cases are run."""

    def __init__(self, exercise):
        with secret.using(secret.PUBLIC_SECRET):
            self.outputs = [
                coursedir.reference(exercise, case) for case in coursedir.cases(exercise)
            ]

    def __call__(self, exercise, case, inputs, left):
        encoded = [payload.encode(value) for value in self.outputs.pop(0)]
        return Run([Outcome(r, "returned", data) for r, data in enumerate(encoded)], [], 0.0, left)


def by_values_alone(exercise, used):
    """The verdict on the table's outputs, whatever it claims to have sent."""
    claims = dataclasses.replace(exercise, rules=(), hints=())
    with secret.using(used):
        return judge(claims, coursedir.cases(exercise), coursedir.reference, Table(exercise)).status


@pytest.mark.parametrize("exercise", course.exercises(LAB).values(), ids=lambda e: e.name)
def test_a_table_of_all_public_cases_gets_no_points_from_a_course_with_its_own_secret(
    exercise, own
):
    assert by_values_alone(exercise, secret.PUBLIC_SECRET) == "passed"
    assert by_values_alone(exercise, own) == "wrong"


@pytest.mark.slow  # runs the solutions of a whole lab
@pytest.mark.parametrize("lab", [here(lab) for lab in course.LABS if lab != LAB])
def test_such_a_table_gets_no_points_in_any_lab(lab, tmp_path):
    fresh = secret.draw(tmp_path / "secret")
    with secret.using(fresh):
        record.record(lab)
    statuses = {name: by_values_alone(e, fresh) for name, e in course.exercises(lab).items()}
    right = {name for name, status in statuses.items() if status != "wrong"}
    assert right <= WITHOUT_NUMBERS | WITHOUT_VALUES


PREDICTED = (Path(__file__).parents[1] / "hostile/attacks/predicted_seeds.py").read_text("utf-8")


def test_seeds_predicted_by_the_public_scheme_get_no_points(own, zygote):
    from hostile import entries

    def few(exercise):  # the attack does not know how large inputs are made of small ones
        return [c for c in coursedir.cases(exercise) if math.prod(c.get("shape", [4])) < LARGE]

    source = "import torch\nimport torch.distributed as dist\n" + PREDICTED
    for name, value in entries.predictable("broadcast_from").items():
        source = source.replace("{" + name + "}", value)
    statuses = []
    for used in (secret.PUBLIC_SECRET, own):
        with secret.using(used):
            asked = {"broadcast_from": find("broadcast_from")}
            grader = Grader(Lab(coursedir.released(LAB), asked, few, coursedir.reference))
            plan = grader.plan(collected.handed_in(LAB, broadcast_from=source))
            statuses += [verdict.status for verdict in grader.grade(plan, zygote)]
    assert statuses == ["passed", "wrong"]


def test_no_reference_of_a_secret_is_taken_for_another(own):
    exercise = course.exercises(LAB)["relay"]
    case = under(OTHER, exercise)[0]
    with secret.using(own), pytest.raises(NoReference, match="other") as raised:
        coursedir.reference(exercise, case)
    assert case.key not in str(raised.value)  # it may end in a message to a student


# what a rank is given


def unpacked(exercise, case):
    return [payload.decode(data) for data in given(exercise, case)]


@pytest.mark.parametrize("name", ["stage_forward", "stage_backward", "pipeline_step"])
def test_a_rank_of_a_pipeline_is_given_its_own_stage_alone(name):
    exercise = course.exercises("06-model-parallel")[name]
    for case in under(OTHER, exercise):
        whole = exercise.inputs(case)[0]
        for rank, own in enumerate(unpacked(exercise, case)):
            others = [place for place in range(case.size) if place != rank]
            assert [own["weights"][place] for place in others] == [None] * len(others)
            assert [own["back"][place] for place in others] == [None] * len(others)
            assert (own["targets"] is None) == (rank < case.size - 1)
            assert rank == 0 or not np.array_equal(own["batch"], whole["batch"])


def test_a_rank_is_given_its_own_gradients_alone():
    exercise = course.exercises("06-model-parallel")["sharded_adam_step"]
    for case in under(OTHER, exercise):
        for rank, (whole, own) in enumerate(
            zip(exercise.inputs(case), unpacked(exercise, case), strict=True)
        ):
            for step, gradients in zip(whole["gradients"], own["gradients"], strict=True):
                assert all(map(np.array_equal, step[rank], gradients))
                assert len(gradients) == len(whole["parameters"])


@pytest.mark.parametrize(
    ("name", "part"), [("column_parallel_linear", "gradient"), ("row_parallel_linear", "x")]
)
def test_a_rank_is_given_its_own_slice_alone(name, part):
    exercise = course.exercises("06-model-parallel")[name]
    for case in under(OTHER, exercise):
        whole = exercise.inputs(case)[0][part]
        slices = [own[part] for own in unpacked(exercise, case)]
        assert np.array_equal(np.concatenate(slices, axis=-1), whole)
