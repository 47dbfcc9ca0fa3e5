"""Who is handed what, and when it is made anew."""

import pytest

from distlab.checking import own_inputs
from distlab.exchange import manifest as manifests
from grader.coursedir import GradingFailed, NotGraded
from grader.plugins.exchanges import SharedFolder
from grader.policy import policy
from grader.policy.rules import PolicyError
from grader.sandbox import NoSandbox
from grader.variants import hand_out

LAB = "01-message-passing"


class Judges:
    """Judges whose references need not be made; some students' cannot be."""

    slots = 2

    def __init__(self, *failing):
        self.failing, self.asked = failing, []

    def prepare(self, lab, student):
        self.asked.append((lab, student))
        if student in self.failing:
            raise NotGraded("the solution failed")


@pytest.fixture
def course(tmp_path, monkeypatch):
    """The folder of an exchange's course, in which lab 01 is released; ada and ben are known."""
    (tmp_path / "policy.yaml").write_text(f"labs: {{{LAB}: {{variants: on}}}}\n")
    monkeypatch.setattr(policy, "PATH", tmp_path / "policy.yaml")
    monkeypatch.setattr(hand_out, "students", lambda roster: {"ada", "ben", "../eve"})
    (tmp_path / "outbound" / LAB).mkdir(parents=True)
    monkeypatch.setattr(hand_out.references, "reference", lambda *about: [1])
    return tmp_path


def test_all_that_are_known_get_a_file_of_released_labs_once(course):
    judges = Judges()
    handing = hand_out.HandingOut(SharedFolder(course), judges)
    said = [handing.one() for _ in range(4)]
    assert said == [
        f"ada {LAB}: own inputs handed out", f"ben {LAB}: own inputs handed out", "", "",
    ]  # fmt: skip
    assert judges.asked == [(LAB, "ada"), (LAB, "ben")]
    assert own_inputs.read(course / "own-inputs" / "ben" / LAB / own_inputs.NAME).student == "ben"
    again = Judges()  # when the service is started again
    assert hand_out.HandingOut(SharedFolder(course), again).one() == "" and again.asked == []


def test_a_course_that_has_changed_makes_files_anew(course, monkeypatch):
    handing = hand_out.HandingOut(SharedFolder(course), Judges())
    handing.one(), handing.one()
    monkeypatch.setattr(hand_out, "variants_digest", lambda *about: "another course")
    again = Judges()
    assert "handed out" in hand_out.HandingOut(SharedFolder(course), again).one()
    assert again.asked == [(LAB, "ada")]


def test_a_course_that_changes_while_files_are_handed_out_makes_them_anew(course, monkeypatch):
    monkeypatch.setattr(hand_out, "LOOK_AGAIN", -1.0)
    judges = Judges()
    handing = hand_out.HandingOut(SharedFolder(course), judges)
    assert [bool(handing.one()) for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(hand_out, "variants_digest", lambda *about: "another course")
    assert [bool(handing.one()) for _ in range(3)] == [True, True, False]
    assert judges.asked == 2 * [(LAB, "ada"), (LAB, "ben")]


def test_where_the_policy_changes_nobody_waits_for_the_next_look(course):
    """It looks once a minute through all students, which takes long in a large class."""
    file = course / "policy.yaml"
    switched_on = file.read_text()
    file.write_text("free_late_days: 0\n")
    handing = hand_out.HandingOut(SharedFolder(course), Judges())
    assert handing.one() == ""
    file.write_text(switched_on)
    assert handing.one() == f"ada {LAB}: own inputs handed out"


def test_files_that_are_there_are_read_once_and_one_that_is_gone_is_made_anew(course, monkeypatch):
    monkeypatch.setattr(hand_out, "LOOK_AGAIN", -1.0)
    first = hand_out.HandingOut(SharedFolder(course), Judges())
    assert [bool(first.one()) for _ in range(3)] == [True, True, False]
    read, judges = [], Judges()
    has = hand_out._has
    monkeypatch.setattr(hand_out, "_has", lambda *one: read.append(one[2]) or has(*one))
    handing = hand_out.HandingOut(SharedFolder(course), judges)
    assert [handing.one() for _ in range(4)] == [""] * 4 and sorted(read) == ["ada", "ben"]
    hand_out.place(course / "own-inputs", LAB, "ben").unlink()
    assert handing.one() == f"ben {LAB}: own inputs handed out" and judges.asked == [(LAB, "ben")]


def test_what_fails_is_told_once_and_the_next_goes_on(course):
    handing = hand_out.HandingOut(SharedFolder(course), Judges("ada"))
    assert handing.one() == f"ada {LAB}: no own inputs: the solution failed"
    assert handing.one() == f"ben {LAB}: own inputs handed out"
    assert not (course / "own-inputs" / "ada").exists()


def test_a_policy_that_cannot_be_read_for_a_moment_costs_nobody_their_inputs(course, monkeypatch):
    monkeypatch.setattr(hand_out, "LOOK_AGAIN", -1.0)
    handing = hand_out.HandingOut(SharedFolder(course), Judges())
    handing._left = sorted(handing._missing())
    good = (course / "policy.yaml").read_text()
    for bad in ("labs: [", "variants: off\n"):  # half saved; switched off
        (course / "policy.yaml").write_text(bad)
        policy._read.cache_clear()
        with pytest.raises(PolicyError):
            handing.one()
    (course / "policy.yaml").write_text(good)
    policy._read.cache_clear()
    assert [handing.one() for _ in range(3)] == [
        f"ada {LAB}: own inputs handed out", f"ben {LAB}: own inputs handed out", "",
    ]  # fmt: skip


def test_what_has_failed_is_tried_again_later(course, monkeypatch):
    monkeypatch.setattr(hand_out, "LOOK_AGAIN", -1.0)
    judges = Judges("ada")
    handing = hand_out.HandingOut(SharedFolder(course), judges)
    first = [handing.one() for _ in range(2)]
    judges.failing = ()  # the disk has room again
    assert first[0].endswith("the solution failed") and handing.one() == ""
    monkeypatch.setattr(hand_out, "TRY_AGAIN", 0.0)
    assert handing.one() == f"ada {LAB}: own inputs handed out" and handing.one() == ""


def test_a_mistake_of_the_grader_s_own_is_told_of_one_student_and_the_next_goes_on(course):
    class Failing(Judges):
        def prepare(self, lab, student):
            if student == "ada":
                raise RuntimeError("the zygote is lost")

    handing = hand_out.HandingOut(SharedFolder(course), Failing())
    assert "the grader failed on it (RuntimeError: the zygote is lost)" in handing.one()
    assert handing.one() == f"ben {LAB}: own inputs handed out"


def test_without_a_sandbox_nothing_is_made_for_anybody(course):
    class Open(Judges):
        def prepare(self, lab, student):
            raise NoSandbox("none works")

    with pytest.raises(NoSandbox):
        list(hand_out.hand_out(LAB, ["ada", "ben"], course / "out", Open()))


def test_what_is_not_released_is_handed_to_nobody(course):
    (course / "outbound" / LAB).rmdir()
    assert hand_out.HandingOut(SharedFolder(course), Judges()).one() == ""


def test_without_variants_nobody_is_handed_anything(course):
    (course / "policy.yaml").write_text("variants: off\n")
    policy._read.cache_clear()
    assert hand_out.HandingOut(SharedFolder(course), Judges()).one() == ""
    with pytest.raises(PolicyError, match="variants: on"):
        list(hand_out.hand_out(LAB, ["ada"], course, Judges()))


def test_a_file_is_written_whole_and_a_folder_cannot_be_listed(course):
    (found,) = hand_out.hand_out(LAB, ["ada"], course / "out", Judges())
    assert found == ("ada", "")
    path = hand_out.place(course / "out", LAB, "ada")
    assert [other.name for other in path.parent.iterdir()] == [own_inputs.NAME]
    for folder in (path.parent, path.parent.parent, course / "out"):
        assert folder.stat().st_mode & 0o777 == 0o711
    assert not hand_out.write(course / "out", LAB, "ada")


class Served:
    """An exchange that is a service, and what it gives students; it can be away."""

    folder = None

    def __init__(self):
        self.given, self.away = {}, False

    def is_released(self, lab):
        return lab == LAB

    def own_inputs(self):
        if self.away:
            raise GradingFailed("own inputs are not handed out: nobody answers")
        return {key: manifests.sha256(path) for key, path in self.given.items()}

    def hand_out(self, student, lab, path):
        self.own_inputs()
        self.given[student, lab] = path


@pytest.fixture
def served(course, monkeypatch):
    monkeypatch.setattr(hand_out, "LOOK_AGAIN", -1.0)
    monkeypatch.setattr(hand_out.coursedir, "GRADES", course / "grades")
    return Served()


def test_a_service_is_given_everybody_s_once(served):
    judges = Judges()
    handing = hand_out.HandingOut(served, judges)
    assert [bool(handing.one()) for _ in range(4)] == [True, True, False, False]
    assert sorted(served.given) == [("ada", LAB), ("ben", LAB)] and len(judges.asked) == 2
    assert own_inputs.read(served.given["ben", LAB]).student == "ben"


def test_a_service_that_was_away_or_has_lost_them_is_given_them_again(served):
    handing = hand_out.HandingOut(served, Judges())
    served.away = True
    assert "nobody answers" in handing.one() and not served.given
    served.away = False
    assert [bool(handing.one()) for _ in range(3)] == [True, True, False]
    del served.given["ada", LAB]
    assert handing.one() == f"ada {LAB}: own inputs handed out" and len(served.given) == 2


def test_a_service_that_goes_away_meanwhile_is_tried_again(served):
    handing = hand_out.HandingOut(served, Judges())
    real, served.hand_out = served.hand_out, lambda *_: (_ for _ in ()).throw(GradingFailed("gone"))
    assert handing.one() == f"ada {LAB}: gone"
    served.hand_out = real
    while handing.one():
        pass
    assert sorted(served.given) == [("ada", LAB), ("ben", LAB)]


def test_a_full_disk_is_told_for_the_student_that_it_concerns(course, monkeypatch):
    def full(to, lab, student):
        if student == "ada":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(hand_out, "write", full)
    found = dict(hand_out.hand_out(LAB, ["ada", "ben"], course, Judges()))
    assert "No space left" in found["ada"] and found["ben"] == ""


@pytest.mark.parametrize("name", ["../ada", "", "a/b", "a\nb", "n" * 101, "a\x1b[31m"])
def test_a_name_that_is_none_is_refused(course, name):
    judges = Judges()
    with pytest.raises(PolicyError, match="cannot be a student's name"):
        list(hand_out.hand_out(LAB, ["ada", name], course, judges))
    assert judges.asked == []
