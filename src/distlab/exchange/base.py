"""What nbgrader's exchange classes have in common here: where the service is, and who asks."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.exchange.default import Exchange
from traitlets import Float, Unicode, default

from distlab.exchange.client import PATIENCE, Client, ExchangeFailed
from distlab.exchange.manifest import Manifest


class HTTPExchange(Exchange):
    """An exchange that is reached over HTTP; `root` means nothing here."""

    url = Unicode(help="The address of the exchange's service").tag(config=True)
    patience = Float(PATIENCE, help="Seconds for which to try again what fails").tag(config=True)

    @default("url")
    def _default_url(self) -> str:
        return os.environ.get("DISTLAB_EXCHANGE_URL", "")

    @default("root")
    def _default_root(self) -> str:
        return ""

    def ensure_root(self) -> None:
        """The service has the folder."""

    def start(self) -> Any:
        """As nbgrader's; whatever fails is one sentence."""
        try:
            return super().start()
        except ExchangeFailed as error:
            self.fail(str(error))

    @property
    def course(self) -> str:
        """The course's id."""
        if not self.coursedir.course_id:
            self.fail("No course id specified. Re-run with --course flag.")
        return str(self.coursedir.course_id)

    @property
    def kept(self) -> Path:
        """What is kept of the course beside the student's own files."""
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

    def fetched(self, client: Client, where: tuple[str, ...], files: Manifest, to: Path) -> None:
        """Have files in a folder."""
        for file in files.files:
            client.fetch(where, file.sha256, file.size, to / file.path)
