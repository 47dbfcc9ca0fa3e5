"""The exchange as a service of a JupyterHub.

    python -m distlab.exchange.service --root /srv/exchange

The Hub starts it, or says in the environment where it is and what it may ask (JUPYTERHUB_API_URL,
JUPYTERHUB_API_TOKEN, JUPYTERHUB_SERVICE_URL, JUPYTERHUB_SERVICE_PREFIX). `DISTLAB_EXCHANGE_GRADERS`
has the Hub's services that grade, as JSON: {service: course}.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from urllib.parse import urlsplit

from jupyterhub.services.auth import HubAuth
from tornado import ioloop, web
from tornado.log import access_log, enable_pretty_logging

from distlab.exchange import handlers
from distlab.exchange.connections import Server, room
from distlab.exchange.limits import CHUNK, Limits
from distlab.exchange.people import KNOWN, People
from distlab.exchange.state import State, limits_of
from distlab.exchange.store import Busy, Store

SWEEP = 3600.0  # seconds between two sweeps of uploads that were begun and left
_COURSE, _NAME, _DIGEST = "([^/]+)", "([^/]+)", "([0-9a-f]{64})"


def application(state: State, prefix: str) -> web.Application:
    """The service's handlers, below a prefix that ends with a slash."""
    pages: dict[str, type[web.RequestHandler]] = {
        "health": handlers.Health,
        "api/labs": handlers.Labs,
        f"api/labs/{_COURSE}/{_NAME}": handlers.Lab,
        f"api/labs/{_COURSE}/{_NAME}/{_DIGEST}": handlers.LabContent,
        "api/submissions": handlers.Submissions,
        f"api/submissions/{_COURSE}/{_NAME}": handlers.OneSubmission,
        f"api/submissions/{_COURSE}/{_NAME}/{_DIGEST}": handlers.SubmissionContent,
        f"api/submissions/{_COURSE}/{_NAME}/feedback/{_DIGEST}": handlers.SubmissionFeedback,
        f"api/hand-in/{_COURSE}/{_NAME}": handlers.HandIn,
        f"api/feedback/{_COURSE}": handlers.Feedback,
        f"api/second-looks/{_COURSE}": handlers.SecondLooks,
        f"api/second-looks/{_COURSE}/{_NAME}": handlers.SecondLook,
        f"api/own-inputs/{_COURSE}": handlers.OwnInputs,
        f"api/own-inputs/{_COURSE}/of/{_NAME}/{_NAME}": handlers.OneOwnInputs,
        f"api/own-inputs/{_COURSE}/{_NAME}/{_DIGEST}": handlers.OwnInputsContent,
        f"api/contents/{_COURSE}/{_DIGEST}": handlers.Content,
    }
    return web.Application(
        [
            (prefix + page, handler, {} if handler is handlers.Health else {"state": state})
            for page, handler in pages.items()
        ],
        default_handler_class=handlers.NoPage,
        default_handler_args={"state": state},
        log_function=_log,
    )


def _log(handler: web.RequestHandler) -> None:
    """Log a line for each request, without its query, into which people put tokens."""
    request, took = handler.request, handler.request.request_time()
    access_log.info(
        "%d %s %s %.0f ms", handler.get_status(), request.method, request.path, 1000 * took
    )


def serve(state: State, prefix: str, host: str, port: int) -> Server:
    """Listen; port 0 takes one that is free."""
    limits = state.limits
    server = Server(
        application(state, prefix), most=room(), known=state.answered,
        idle_connection_timeout=limits.idle, body_timeout=limits.slowest, max_body_size=CHUNK,
        max_header_size=16 * 1024,
    )  # fmt: skip
    server.listen(port, host)
    return server


async def run(root: Path, limits: Limits, environment: Mapping[str, str]) -> None:
    """Serve until the process is ended, which may be at any moment and by any signal."""
    graders = json.loads(environment.get("DISTLAB_EXCHANGE_GRADERS", "{}"))
    auth = HubAuth(cache_max_age=KNOWN)
    state = State(Store(root, limits), People(auth, graders))
    where = urlsplit(environment.get("JUPYTERHUB_SERVICE_URL", "http://127.0.0.1:8090"))
    prefix = environment.get("JUPYTERHUB_SERVICE_PREFIX", "/services/exchange/")
    serve(state, prefix, where.hostname or "127.0.0.1", where.port or 8090)
    ioloop.PeriodicCallback(state.sweep, 1000 * SWEEP).start()
    await asyncio.Event().wait()


def _said(limit: str) -> str:
    """What the docstring of `Limits` says of a limit."""
    found = re.search(rf"^ +{limit}: (.*?)(?:, and|[.])$", Limits.__doc__ or "", re.M)
    return found[1] if found else ""


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=f"{(__doc__ or '').splitlines()[0]} Sizes are in bytes, times in seconds."
    )
    parser.add_argument("--root", type=Path, required=True, help="the exchange's folder")
    for one in fields(Limits):
        kind = float if one.type == "float" else int
        parser.add_argument(
            f"--{one.name.replace('_', '-')}", type=kind, metavar="N",
            help=f"{_said(one.name)} (default: {one.default:,})",
        )  # fmt: skip
    options = vars(parser.parse_args(words))
    os.umask(0o077)
    enable_pretty_logging()
    try:
        asyncio.run(run(options.pop("root"), limits_of(options), os.environ))
    except (Busy, OSError) as error:
        print(f"exchange: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


if __name__ == "__main__":
    sys.exit(main())
