"""nbgrader's exchange over HTTP, for Hubs whose servers share no disk.

A service of the Hub (`service`) keeps the exchange on its own disk. Students' and graders' servers
use it through nbgrader's own commands and buttons, with the token that the Hub has given them.
Uploads and downloads that were cut off are resumed, whatever was killed meanwhile.
"""

from __future__ import annotations

import os
from typing import Any

#: nbgrader's parts of an exchange, and the classes that stand in their place
_CLASSES = {
    "exchange": "base.HTTPExchange",
    "list": "listing.List",
    "fetch_assignment": "student.FetchAssignment",
    "submit": "student.Submit",
    "fetch_feedback": "student.FetchFeedback",
    "release_assignment": "instructor.ReleaseAssignment",
    "collect": "instructor.Collect",
    "release_feedback": "instructor.ReleaseFeedback",
}


def use(c: Any, url: str | None = None) -> None:
    """Let nbgrader use the exchange's service: a line of nbgrader_config.py.

    Args:
        c: nbgrader's configuration.
        url: the service's address; the environment's DISTLAB_EXCHANGE_URL where it is not said.
    """
    for part, name in _CLASSES.items():
        setattr(c.ExchangeFactory, part, f"distlab.exchange.{name}")
    if url := url or os.environ.get("DISTLAB_EXCHANGE_URL"):
        c.HTTPExchange.url = url
