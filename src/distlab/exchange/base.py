"""The base of nbgrader's exchange classes here: where the service is, and who asks."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import Exchange
from traitlets import Float, Unicode, default

from distlab.exchange import manifest as manifests
from distlab.exchange import names
from distlab.exchange.client import PATIENCE, Client, ExchangeFailed
from distlab.exchange.manifest import Manifest
from distlab.exchange.names import Refused
from distlab.exchange.own_inputs import NAME

#: where `distlab check` looks for them (`distlab.checking.own_inputs`)
OWN_INPUTS = "~/.local/share/distlab/own-inputs"


class HTTPExchange(Exchange):
    """An exchange over HTTP. nbgrader's option `root` means nothing here."""

    url = Unicode(help="The address of the exchange's service").tag(config=True)
    own_inputs = Unicode(OWN_INPUTS, help="Where a student's own inputs are kept").tag(config=True)
    patience = Float(PATIENCE, help="Seconds for which to try again what fails").tag(config=True)

    @default("url")
    def _default_url(self) -> str:
        return os.environ.get("DISTLAB_EXCHANGE_URL", "")

    @default("root")
    def _default_root(self) -> str:
        return ""

    def ensure_root(self) -> None:
        """Nothing to do: the service has the folder."""

    def start(self) -> Any:
        """As nbgrader's, but failures are told in one sentence."""
        try:
            return super().start()
        except ExchangeFailed as error:
            self.fail(str(error))
        except OSError as error:
            if error.errno not in (errno.ENOSPC, errno.EDQUOT):
                raise
            self.fail(
                f"there is no room on this disk ({error.strerror}): make some, then do it again"
            )

    @property
    def course(self) -> str:
        """The course's id."""
        if not self.coursedir.course_id:
            self.fail("No course id specified. Re-run with --course flag.")
        return str(self.coursedir.course_id)

    @property
    def kept(self) -> Path:
        """The folder for copies of what was handed in to the course."""
        return Path(self.cache, self.course)

    @contextlib.contextmanager
    def service(self, patience: float | None = None) -> Iterator[Client]:
        """The exchange's service, for whoever the Hub's token in the environment belongs to."""
        token = os.environ.get("JUPYTERHUB_API_TOKEN", "")
        if not self.url or not token:
            missing = "DISTLAB_EXCHANGE_URL" if not self.url else "JUPYTERHUB_API_TOKEN"
            raise ExchangeFailed(
                f"the exchange cannot be reached from here, since {missing} is not set: use a "
                "server of the Hub"
            )
        parts = Path(self.cache, ".parts")
        with Client(self.url, token, self.patience if patience is None else patience, parts) as one:
            yield one

    def keep_own_inputs(self, client: Client, course: str) -> None:
        """Fetch the user's own inputs to where `check` finds them. Nothing fails without them: the
        lab's usual inputs will do too.
        """
        try:
            for one in client.own_inputs(course):
                student, lab = names.person(one["student"]), names.lab(one["lab"])
                folder = os.path.expanduser(self.own_inputs)
                to = Path(folder, names.one(course, "course"), student, lab, NAME)
                if not to.is_file() or manifests.sha256(to) != one["sha256"]:
                    where = ("own-inputs", course, lab)
                    client.fetch(where, names.digest(one["sha256"]), int(one["size"]), to)
                    self.log.info("Own inputs of %s: %s", lab, to)
        except (ExchangeFailed, Refused, OSError, LookupError, TypeError, ValueError) as error:
            if getattr(error, "status", 0) != HTTPStatus.NOT_FOUND:  # a service without any
                self.log.warning("No own inputs were fetched: %s", error)

    def fetched(self, client: Client, where: tuple[str, ...], files: Manifest, to: Path) -> None:
        """Fetch files into a folder."""
        for file in files.files:
            client.fetch(where, file.sha256, file.size, to / file.path)
