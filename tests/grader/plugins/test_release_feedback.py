"""Feedback goes to those who have handed in through the exchange, whoever else was graded."""

import logging

import pytest
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import ExchangeError
from traitlets.config import Config

from grader.plugins.release import ReleaseFeedback

LAB = "lab"


@pytest.fixture
def release(tmp_path):
    """`release(student)`: the pages that can be fetched then; all students' without a name."""

    def run(student="*"):
        config = Config()
        config.CourseDirectory.root = str(tmp_path / "course")
        config.CourseDirectory.course_id = "course"
        config.CourseDirectory.assignment_id = LAB
        config.CourseDirectory.student_id = student
        config.Exchange.root = str(tmp_path / "exchange")
        (tmp_path / "exchange").mkdir(exist_ok=True)
        (tmp_path / "exchange").chmod(0o777)
        # by default that of an application which another test has begun, and which keeps its own
        log = logging.getLogger(str(tmp_path))
        ReleaseFeedback(coursedir=CourseDirectory(config=config), config=config, log=log).start()
        return sorted(
            path.read_text() for path in (tmp_path / "exchange/course/feedback").glob("*.html")
        )

    return run


def graded(tmp_path, student, **files):
    folder = tmp_path / "course" / "feedback" / student / LAB
    folder.mkdir(parents=True)
    (folder / "x.html").write_text(student)
    for name, content in files.items():
        (folder / f"{name}.txt").write_text(content)


THROUGH = {"timestamp": "2026-11-02 10:00:00.000000 UTC", "submission_secret": "s"}


def test_what_was_put_there_by_hand_does_not_stop_the_others(tmp_path, release, caplog):
    graded(tmp_path, "ada", **THROUGH)
    graded(tmp_path, "ben")
    graded(tmp_path, "cy", **{**THROUGH, "submission_secret": ""})
    graded(tmp_path, "z[d]", **{**THROUGH, "submission_secret": "t"})
    with caplog.at_level(logging.WARNING):
        assert release() == ["ada", "z[d]"]
    (said,) = [record.getMessage() for record in caplog.records]
    assert said.startswith("lab of ben, cy was not handed in through the exchange")
    assert said.endswith("send the page yourself")


def test_who_asks_for_that_one_alone_is_told_so(tmp_path, release):
    graded(tmp_path, "ben")
    with pytest.raises(ExchangeError, match="lab of ben was not handed in through the exchange"):
        release("ben")
