"""Who asks: the Hub says whose a token is, and which courses they take and teach."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyterhub.services.auth import HubAuth
from tornado import web

from distlab.exchange import names
from distlab.exchange.names import Refused

TAKES, TEACHES = "nbgrader-", "formgrade-"  # the Hub's groups, as nbgrader names them
KNOWN = 60  # seconds for which the Hub's answer is kept, and a revoked token still works
_ASKED_AT_ONCE = 16


@dataclass(frozen=True)
class Person:
    """Somebody, or a course's own service, as the Hub knows them."""

    name: str
    takes: frozenset[str] = frozenset()
    teaches: frozenset[str] = frozenset()

    @property
    def courses(self) -> frozenset[str]:
        return self.takes | self.teaches


class Unknown(Exception):
    """The Hub does not know this token, or it is not for the exchange."""


class Away(Exception):
    """The Hub does not answer."""


class People:
    """Asks the Hub.

    Args:
        auth: how to ask it, and which scopes a token needs (`access_scopes`).
        graders: {service of the Hub: the course that it teaches}.
    """

    def __init__(self, auth: HubAuth, graders: Mapping[str, str]) -> None:
        self._auth, self._graders = auth, dict(graders)
        self._asking = asyncio.Semaphore(_ASKED_AT_ONCE)

    async def who(self, header: str) -> Person:
        """The person whose token is in a request's Authorization header.

        Raises:
            Unknown, Away
        """
        kind, _, token = header.partition(" ")
        if kind.lower() not in ("token", "bearer") or not token.strip():
            raise Unknown
        try:
            async with self._asking:
                model = await self._auth.user_for_token(token.strip(), sync=False)
        except web.HTTPError as error:
            raise Away from error
        if not model or not self._auth.check_scopes(self._auth.access_scopes, model):
            raise Unknown
        return self._person(model)

    def _person(self, model: Mapping[str, Any]) -> Person:
        name = model.get("name")
        try:
            if model.get("kind") == "service":
                course = self._graders.get(str(name))
                return Person(names.person(name), teaches=frozenset([course] if course else []))
            groups = [str(group) for group in model.get("groups") or ()]
            return Person(names.person(name), _after(TAKES, groups), _after(TEACHES, groups))
        except Refused as error:
            raise Unknown from error


def _after(prefix: str, groups: list[str]) -> frozenset[str]:
    """The courses that groups with this prefix name."""
    found = set()
    for group in groups:
        with contextlib.suppress(Refused):  # a group that is none of a course's
            if group.startswith(prefix):
                found.add(names.one(group.removeprefix(prefix), "course"))
    return frozenset(found)
