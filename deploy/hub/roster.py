"""Who takes part in which course, as hub.yaml says it, and what each of them may do on the Hub."""

from __future__ import annotations

import importlib.metadata
import pwd
import re
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import yaml

#: what a server may do on the Hub: say that it is used, ask whom it serves and in which groups
#: that user is
OF_EVERY_SERVER = (
    "users:activity!user", "access:servers!server", "read:users:name!user",
    "read:users:groups!user",
)  # fmt: skip
#: the exchange's service, and the scope that a server needs to reach it
EXCHANGE = "exchange"
TO_EXCHANGE = f"access:services!service={EXCHANGE}"
OF_THE_CULLER = ("list:users", "read:users:activity", "read:servers", "delete:servers")

#: older versions let a request for Validate name a file outside of the server's folder
SAFE_NBGRADER = (0, 9, 6)


class Mistaken(ValueError):
    """hub.yaml cannot be followed; the message says what to change."""


@dataclass(frozen=True)
class Course:
    """A course: an nbgrader course folder, and who teaches and takes it.

    Args:
        account: the machine's user who owns the folder and grades in it.
        folder: where nbgrader_config.py lies.
    """

    id: str
    account: str
    folder: Path
    instructors: tuple[str, ...] = ()
    students: tuple[str, ...] = ()

    @property
    def taken_by(self) -> str:
        """The Hub group of those who see its assignments; nbgrader looks for this name."""
        return f"nbgrader-{self.id}"

    @property
    def taught_by(self) -> str:
        """The Hub group of those who may open its formgrader."""
        return f"formgrade-{self.id}"

    @property
    def grading(self) -> tuple[str, ...]:
        """The scopes of those who teach it: its formgrader, and to find it in the course list."""
        return (
            "list:services", f"read:services!service={self.id}",
            f"access:services!service={self.id}",
        )  # fmt: skip


@dataclass(frozen=True)
class Settings:
    """hub.yaml."""

    courses: dict[str, Course]
    authenticator: str = "pam"
    spawner: str = "local"
    port: int = 8000
    internal_ports: int = 8081
    subdomain_host: str = ""
    memory: str = "2G"
    cores: float = 2.0  # not 2: a setting has the type of its default
    processes: int = 512
    idle: int = 3600
    shared_memory: bool = True
    grade_on_submit: bool = False
    exchange_account: str = ""
    slurm: dict[str, Any] = field(default_factory=dict)

    @property
    def control_group(self) -> str:
        """The name of the control group of all servers; another Hub of this machine has another."""
        return f"distlab-hub-{self.internal_ports}"

    @property
    def people(self) -> set[str]:
        """Everybody who may log in."""
        return {name for c in self.courses.values() for name in (*c.instructors, *c.students)}

    @property
    def groups(self) -> dict[str, dict[str, list[str]]]:
        """The Hub's groups, with their members."""
        made: dict[str, dict[str, list[str]]] = {}
        for course in self.courses.values():
            everyone = sorted({*course.instructors, *course.students})
            made[course.taken_by] = {"users": everyone}
            made[course.taught_by] = {"users": list(course.instructors)}
        return made

    @property
    def roles(self) -> list[dict[str, Any]]:
        """What the groups may do; a student's is nothing but a server of their own."""
        return [
            {"name": course.taught_by, "groups": [course.taught_by], "scopes": list(course.grading)}
            for course in self.courses.values()
        ] + [
            {"name": "culler", "services": ["culler"], "scopes": list(OF_THE_CULLER)},
            *self._exchanging,
        ]

    @property
    def _exchanging(self) -> list[dict[str, Any]]:
        """Who may reach the exchange's service: it asks for nothing but who they are."""
        if not self.exchange_account:
            return []
        return [{
            "name": EXCHANGE, "scopes": [TO_EXCHANGE],
            "groups": [course.taken_by for course in self.courses.values()],
            "services": sorted(self.graders),
        }]  # fmt: skip

    @property
    def graders(self) -> dict[str, str]:
        """The Hub's services that grade, and the course of each."""
        found = {course: course for course in self.courses}
        if self.grade_on_submit:
            found.update({f"{course}-grading": course for course in self.courses})
        return found

    def teaches(self, name: str) -> list[Course]:
        return [course for course in self.courses.values() if name in course.instructors]

    def scopes(self, name: str) -> list[str]:
        """What the server of a user may ask of the Hub."""
        more = {scope for course in self.teaches(name) for scope in course.grading}
        if self.exchange_account:
            more.add(TO_EXCHANGE)
        return [*OF_EVERY_SERVER, *sorted(more)]


def need_nbgrader() -> None:
    """Raises:
    Mistaken: the installed nbgrader must not be used by several people.
    """
    version = importlib.metadata.version("nbgrader")
    if tuple(map(int, re.findall(r"\d+", version)[:3])) < SAFE_NBGRADER:
        safe = ".".join(map(str, SAFE_NBGRADER))
        raise Mistaken(
            f"nbgrader {version} lets students reach files outside of their folder by Validate: "
            f"install {safe} or later in the Hub's environment (`make hub-env`), with Python 3.11"
        )


def read(path: Path) -> Settings:
    """The settings in a YAML file.

    Raises:
        Mistaken: they cannot be followed.
    """
    try:
        content = yaml.safe_load(path.read_text("utf-8"))
    except (OSError, yaml.YAMLError) as error:
        raise Mistaken(f"{path} cannot be read ({error}): copy deploy/hub/hub.yaml there") from None
    content = _section(path, "it", content, {one.name for one in fields(Settings)})
    for name in content.keys() - {"courses", "memory"}:  # a memory may be a number of bytes
        _need_kind(path, name, content[name], getattr(Settings, name, {}))
    for name, choices in (
        ("authenticator", ("pam", "dummy")), ("spawner", ("local", "systemd", "slurm")),
    ):  # fmt: skip
        if content.get(name, choices[0]) not in choices:
            raise Mistaken(f"{path}: {name} is one of {', '.join(choices)}")
    about = content.get("courses", {})
    if not isinstance(about, dict):
        raise Mistaken(f"{path}: below `courses:` stands each course by its id, as `distlab:`")
    courses = {str(name): _course(path, str(name), of_one) for name, of_one in about.items()}
    if not courses:
        raise Mistaken(f"{path} names no course: add one below `courses:`")
    if taken := {EXCHANGE, "culler"} & set(courses):
        raise Mistaken(f"{path}: {min(taken)} is a service of the Hub's: call the course otherwise")
    if account := content.get("exchange_account"):
        try:
            pwd.getpwnam(account)
        except KeyError:
            raise Mistaken(
                f"{path}: exchange_account {account} is no user of this machine"
            ) from None
    return Settings(**{**content, "courses": courses})


def _section(path: Path, what: str, content: object, known: set[str]) -> dict[str, Any]:
    """The settings of a part of the file; one without a value has its default.

    Raises:
        Mistaken: they are none, or one is not known.
    """
    if not isinstance(content, dict):
        raise Mistaken(f"{path}: {what} needs settings, as deploy/hub/hub.yaml has them")
    for name in content.keys() - known:
        raise Mistaken(f"{path}: {what} has {name!r}, and may have {', '.join(sorted(known))}")
    return {name: value for name, value in content.items() if value is not None}


#: what a setting of a type is called
_KINDS = {str: "text", int: "a whole number", float: "a number", bool: "true or false",
          dict: "a section of settings"}  # fmt: skip


def _need_kind(path: Path, name: str, value: object, default: object) -> None:
    """Raises:
    Mistaken: a setting is of another type than its default.
    """
    kind = type(default)
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise Mistaken(f"{path}: {name} is {_KINDS[kind]}, not {value!r}")


def _people(path: Path, course: str, who: str, names: object) -> tuple[str, ...]:
    """Names as the Hub has them, which knows no capital letters."""
    if not isinstance(names, list):
        raise Mistaken(f"{path}: {who} of {course} are a list, as [{names}]")
    return tuple(str(name).lower() for name in names)


def _course(path: Path, name: str, about: object) -> Course:
    known = {one.name for one in fields(Course)} - {"id"}
    about = _section(path, f"course {name}", about, known)
    try:
        people = {
            who: _people(path, name, who, about.get(who, [])) for who in ("instructors", "students")
        }
        course = Course(name, str(about["account"]), Path(about["folder"]), **people)
        pwd.getpwnam(course.account)
    except KeyError as error:
        raise Mistaken(
            f"{path}: course {name} needs `account`, a user of this machine, and `folder`; "
            f"{error.args[0]} is missing"
        ) from None
    if both := set(course.instructors) & set(course.students):
        raise Mistaken(f"{path}: {', '.join(sorted(both))} both teach and take {name}")
    return course
