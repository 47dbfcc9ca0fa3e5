"""Whose inputs are whose: no two students' alike, none told by another's, the same each time."""

import dataclasses
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distlab import course
from distlab.processes import payload
from grader import coursedir, secret
from grader.variants import variant as variants
from grader.variants.variant import variant

OWN = secret.Secret(b"a course's own secret, 32 bytes.", None)
EXERCISES = [(lab, name) for lab in course.LABS for name in course.exercises(lab)]
#: answers to what was read, not to inputs: there is nothing in them that could differ
WITHOUT_INPUTS = {"what_is_wrong"}
SMALL = 1 << 13  # bytes of a case's inputs


def whose(lab, student="ada", of=OWN):
    return variant(lab, student, of)


def small(exercise, cases):
    """Which of the cases have small inputs, by their places."""
    sizes = [sum(map(len, map(payload.encode, exercise.inputs(case)))) for case in cases]
    least = min(sizes)
    return [n for n, size in enumerate(sizes) if size <= max(SMALL, least)]


def told(exercise, cases):
    return tuple(zlib.crc32(b"".join(map(payload.encode, exercise.inputs(c)))) for c in cases)


def alike(lab, name, count):
    """How many of so many students have the hidden inputs of another one."""
    exercise = course.exercises(lab)[name]
    places = small(exercise, variants.hidden(whose(lab), exercise))
    seen = set()
    for number in range(count):
        cases = variants.hidden(whose(lab, f"student{number:04}"), exercise)
        seen.add(told(exercise, [cases[place] for place in places]))
    return count - len(seen)


@pytest.mark.parametrize(("lab", "name"), EXERCISES)
def test_students_differ_in_the_hidden_inputs_of_every_exercise(lab, name):
    assert alike(lab, name, 3) == (2 if name in WITHOUT_INPUTS else 0)


@pytest.mark.long
@pytest.mark.slow  # a thousand students' inputs of every exercise
@pytest.mark.parametrize(("lab", "name"), [e for e in EXERCISES if e[1] not in WITHOUT_INPUTS])
def test_no_two_of_a_thousand_students_are_alike_in_hidden_inputs(lab, name):
    assert alike(lab, name, 1000) == 0


@pytest.mark.parametrize(("lab", "name"), EXERCISES)
def test_a_variant_has_the_cases_of_everybody_in_their_order_and_sizes(lab, name):
    exercise = course.exercises(lab)[name]
    usual, own = coursedir.cases(exercise), variants.cases(whose(lab), exercise)
    for one, other in zip(usual, own, strict=True):
        assert (one.size, one.seed, one.hidden) == (other.size, other.seed, other.hidden)
        assert set(one.params) <= set(other.params)
    assert own == variants.cases(whose(lab), exercise)


@pytest.mark.slow  # makes inputs of all labs
@pytest.mark.parametrize(("lab", "name"), EXERCISES)
def test_shapes_and_kinds_of_inputs_are_those_of_everybody(lab, name):
    exercise = course.exercises(lab)[name]
    usual, own = coursedir.cases(exercise), variants.cases(whose(lab), exercise)
    for n in small(exercise, usual):
        pairs = zip(exercise.inputs(usual[n]), exercise.inputs(own[n]), strict=True)
        for one, other in pairs:
            assert set(one) == set(other)
            for key, value in one.items():
                assert type(value) is type(other[key])
                assert getattr(value, "dtype", None) == getattr(other[key], "dtype", None)


def test_keys_are_of_the_secret_the_student_the_lab_and_what_they_are_for():
    lab, other = "01-message-passing", "04-ring-allreduce"
    one = whose(lab)
    elsewhere = secret.Secret(b"another secret of thirty-two b..", None)
    others = [whose(lab, "ben"), whose(other), whose(lab, of=elsewhere)]
    keys = [key for v in (one, *others) for key in (v.hidden, v.visible)]
    assert len(set(keys)) == len(keys) and all(len(key) == 32 for key in keys)
    assert one.fingerprint not in [v.fingerprint for v in others]
    assert "secret" not in repr(one) and one.hidden.hex() not in repr(one)


def test_no_case_of_everybody_has_the_entropy_of_a_variant():
    exercise = course.find("exchange")
    with secret.using(OWN):
        usual = {case.entropy for case in coursedir.cases(exercise)} - {b""}
    own = {case.entropy for case in variants.cases(whose(exercise.lab), exercise)}
    assert len(own) == len(variants.cases(whose(exercise.lab), exercise))
    assert not usual & own


def test_a_key_for_few_words_could_be_that_of_a_case_and_is_refused():
    with pytest.raises(ValueError):
        OWN.derive("01-message-passing", "exchange", "[2, 101, {}]")


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("ada", "Ada"), ("straße", "strasse"), ("ﬁona", "fiona"), ("ἀθηνᾶς", "ἀθηνᾶσ"),
        ("jos\u00e9", "jose\u0301"), ("\u212bke", "\u00e5ke"), ("İlk", "i\u0307lk"),
        ("ada", "adá"), ("ada", "ada "), ("ada", "ada2"), ("ada\udcff", "ada"),
    ],
)  # fmt: skip
def test_names_that_are_spelled_alike_are_two_students(name, other):
    """The gradebook has two of them, whatever case and Unicode's forms say."""
    one, two = whose("01-message-passing", name), whose("01-message-passing", other)
    assert len({one.hidden, one.visible, two.hidden, two.visible}) == 4
    assert one.fingerprint != two.fingerprint


@settings(deadline=None)  # of a machine that does something else meanwhile
@given(st.lists(st.text(max_size=12), min_size=2, max_size=20, unique=True))
def test_every_name_has_keys_of_its_own(names):
    """With `str.casefold` and `unicodedata.normalize` in the way this does not hold."""
    found = [whose("01-message-passing", name) for name in names]
    assert len({one.hidden for one in found} | {one.visible for one in found}) == 2 * len(names)


@pytest.mark.slow  # makes all inputs of all labs
def test_what_is_for_everybody_is_as_the_references_were_recorded():
    for lab in course.LABS:  # variants are off: nothing that could vary has moved a hidden case
        coursedir.need_references(lab)


def test_a_visible_case_whose_seed_is_the_point_stays():
    exercise = course.exercises("03-cifar10-ddp")["set_random_seeds"]
    first, second = variants.visible(whose(exercise.lab), exercise)
    assert exercise.inputs(first) == exercise.inputs(exercise.visible[0])
    assert exercise.inputs(second) != exercise.inputs(exercise.visible[1])


def test_every_statement_on_visible_cases_has_one_for_each():
    for lab, name in EXERCISES:
        owns = variants._visible(lab, name)
        assert owns is None or len(owns) == len(course.exercises(lab)[name].visible)


def test_visible_inputs_of_formulas_are_ones_own():
    exercise = course.exercises("04-ring-allreduce")["ring_time"]
    ada, ben = (variants.visible(whose(exercise.lab, who), exercise) for who in ("ada", "ben"))
    assert [case.params["size"] for case in ada] == [case.params["size"] for case in ben]
    assert ada[0].params["n_bytes"] != ben[0].params["n_bytes"]
    assert dataclasses.replace(ada[0], entropy=b"").told() != exercise.visible[0].told()
