"""The commands of second looks: students ask, those who teach answer."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from distlab.cli.parts import command, enter_course

if TYPE_CHECKING:
    from distlab.cli.parts import Commands


def add(commands: Commands) -> None:
    """Add them to the parser."""
    _add_ask(commands)
    _add_looks(commands)
    _add_answer(commands)
    _add_replay(commands)


def _add_ask(commands: Commands) -> None:
    parser = command(
        commands, "ask", ask,
        "Ask those who teach for a second look at one exercise that you have handed in.",
        'ask 01-message-passing relay "Rank 2 is right: it may receive from anybody."',
    )  # fmt: skip
    _exercise(parser)
    parser.add_argument("words", nargs="+", metavar="SENTENCE")
    parser.add_argument("--course", default="", metavar="NAME", help="where there are several")


def _exercise(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("lab", metavar="LAB")
    parser.add_argument("exercise", metavar="EXERCISE")


def ask(arguments: argparse.Namespace) -> int:
    from distlab.cli.ask import ask as hand_over

    return hand_over(arguments.lab, arguments.exercise, arguments.words, arguments.course)


def _add_looks(commands: Commands) -> None:
    parser = command(
        commands, "looks", looks,
        "Print which students wait for a second look and which comments are kept, and write the "
        "requests beside their verdicts as a page.",
        "looks 01-message-passing",
    )  # fmt: skip
    parser.add_argument("labs", nargs="*", metavar="LAB", help="labs (default: all)")


def looks(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.looks import commands

    return commands.looks(arguments.labs)


def _add_answer(commands: Commands) -> None:
    parser = command(
        commands, "answer", answer,
        "Answer a student about an exercise, with points by hand, a comment or both; they stay "
        "when it is graded again.",
        'answer ada 01-message-passing relay --points 2 --comment "Right but for the order."',
    )  # fmt: skip
    parser.add_argument("student", metavar="STUDENT")
    _exercise(parser)
    parser.add_argument(
        "--points", default="", metavar="P",
        help="the exercise's points in all; none: the judge's again (default: unchanged)",
    )  # fmt: skip
    parser.add_argument(
        "--comment", default="", metavar="TEXT", help="for the student; @NAME: one that was kept"
    )
    parser.add_argument("--keep", default="", metavar="NAME", help="keep the comment for use again")
    parser.add_argument(
        "--all-alike", action="store_true", help="answer all who have made the same mistake"
    )


def answer(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.looks import commands

    return commands.answer(
        arguments.student, arguments.lab, arguments.exercise, arguments.points, arguments.comment,
        arguments.keep, arguments.all_alike,
    )  # fmt: skip


def _add_replay(commands: Commands) -> None:
    parser = command(
        commands, "replay", replay,
        "Judge an exercise of a submission once more and write what its ranks did as a page, of a "
        "hidden case too. Nothing is booked.",
        "replay ada 01-message-passing relay",
    )  # fmt: skip
    parser.add_argument("student", metavar="STUDENT")
    _exercise(parser)


def replay(arguments: argparse.Namespace) -> int:
    enter_course()
    from grader.looks import commands

    return commands.replay(arguments.student, arguments.lab, arguments.exercise)
