"""Verdicts with inputs of one's own: whose they are, when they are stale, what is as before."""

import contextlib
import json

import pytest

from distlab import course
from grader import collected, secret
from grader.judging import basis, referee
from grader.judging.ledger import Ledger
from grader.policy import policy
from grader.variants.variant import variant

LAB = "01-message-passing"
OTHER = secret.Secret(b"another secret of thirty-two b..", None)


class Judges:
    """Judges that note with whose inputs they were asked to judge."""

    slots = 1

    def __init__(self):
        self.asked = []

    def beside(self):
        return contextlib.nullcontext()

    def lines(self, lab, plan, whose=None, lanes=1):
        self.asked.append((whose,) if whose else ())
        return referee.unreadable_lines(lab)

    def close(self):
        pass


@pytest.fixture
def say(tmp_path, monkeypatch):
    """`say(text)`: what the policy says from now on; at first that students have own inputs."""
    monkeypatch.setattr(policy, "PATH", tmp_path / "policy.yaml")

    def write(text):
        (tmp_path / "policy.yaml").write_text(text)
        policy._read.cache_clear()

    write("variants: on\n")
    return write


@pytest.fixture
def judges():
    return Judges()


@pytest.fixture
def one(tmp_path, judges):
    """`one(student, by)`: the entry on the untouched lab."""
    with referee.Referee(Ledger(tmp_path / "ledger"), judges) as made:
        rebuilt, repaired = made.rebuild(LAB, collected.handed_in(LAB))

        def judged(student="ada", by=""):
            return made.judge(LAB, student, rebuilt, repaired, by)

        judged.ledger = made.ledger
        yield judged


def test_a_submission_is_judged_with_its_students_inputs(say, one, judges):
    ada, ben = one("ada"), one("ben")
    assert judges.asked == [("ada",), ("ben",)]
    assert ada.variant == variant(LAB, "ada").fingerprint != ben.variant
    assert one.ledger.latest(LAB, "ada").variant == ada.variant
    assert one("ada") == ada and len(judges.asked) == 2


def test_a_groups_submission_is_judged_once_with_the_inputs_of_whose_it_is(say, one, judges):
    ben = one("ben", by="ada")
    ada = one("ada")
    assert judges.asked == [("ada",)]
    assert ben.variant == ada.variant == variant(LAB, "ada").fingerprint
    assert (ben.student, ben.by) == ("ben", "ada")


def test_stock_nbgrader_finds_what_was_judged_for_a_group(say, one, judges):
    one("ben", by="ada")
    found = one("ben", by=None)  # nbgrader's own steps know of no groups
    assert judges.asked == [("ada",)]
    assert found == one.ledger.latest(LAB, "ben") and found.by == "ada"


def test_who_has_left_a_group_is_judged_with_inputs_of_their_own(say, one, judges):
    one("ben", by="ada")
    ben = one("ben")
    assert judges.asked == [("ada",), ("ben",)] and ben.variant == variant(LAB, "ben").fingerprint


def test_another_name_is_another_variant_however_it_is_spelled(say, one, judges):
    found = [one(name).variant for name in ("ada", "Ada", "ada lovelace", "straße", "strasse")]
    assert len(set(found)) == len(found)


def test_on_off_and_another_secret_make_verdicts_stale(say, one, judges):
    ada = one("ada")
    say("variants: off\n")
    assert one("ada").variant == ""
    say(f"variants: off\nlabs: {{{LAB}: {{variants: on}}}}\n")
    assert one("ada") == ada  # the same verdict, judged again
    with secret.using(OTHER):
        assert one("ada").variant != ada.variant
    assert judges.asked == [("ada",), (), ("ada",), ("ada",)]


def test_a_policy_that_says_other_things_makes_nothing_stale(say, one, judges):
    one("ada")
    say("variants: on\nlate: {penalty: 10%}\ntimezone: UTC\n")
    one("ada")
    assert len(judges.asked) == 1


def test_without_variants_everything_is_as_before(say, one, judges, tmp_path):
    say("")
    plain = one("ada")
    plan_alone = referee.coursedir.lab(LAB).plan(collected.handed_in(LAB))
    whole = basis.course_digest(LAB, secret.current()) + plan_alone.digest
    assert plain.digest == referee.hashlib.sha256(whole.encode()).hexdigest()
    assert judges.asked == [()]
    kept = json.loads((tmp_path / "ledger" / LAB / "ada.json").read_text())
    assert "variant" not in kept and kept["lines"][0]["max_score"]


def test_the_solution_counts_where_references_come_of_it(monkeypatch):
    path = basis.coursedir.SOLUTIONS / LAB / course.notebook_name(LAB)
    read = type(path).read_bytes
    used = secret.current()
    before = [f.__wrapped__(LAB, used) for f in (basis.course_digest, basis.variants_digest)]
    changed = lambda self: read(self) + b"#" * (self == path)  # noqa: E731
    monkeypatch.setattr(type(path), "read_bytes", changed)
    after = [f.__wrapped__(LAB, used) for f in (basis.course_digest, basis.variants_digest)]
    assert after[0] == before[0] and after[1] != before[1]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("variants: yes", "line 1: variants is 'yes': write on or off."),
        ("variants: true", "write on or off"),
        ("variants: [on]", "more than one value"),
        ("variants:", "variants is empty"),
        ("labs: {01-message-passing: {variants: maybe}}", "write on or off"),
        ("variant: on", "did you mean variants?"),
    ],
)
def test_a_switch_that_cannot_be_read_is_named_with_its_line(say, text, said):
    say(text + "\n")
    with pytest.raises(policy.PolicyError) as raised:
        policy.current()
    assert said in str(raised.value)


def test_a_lab_can_say_otherwise(say):
    say(f"variants: on\nlabs: {{{LAB}: {{variants: off}}}}\n")
    now = policy.current()
    assert not now.lab(LAB).variants and now.lab("04-ring-allreduce").variants
    assert not policy.Policy().lab(LAB).variants
