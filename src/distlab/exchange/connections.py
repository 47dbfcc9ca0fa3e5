"""Bounds the service's connections by the descriptors that it may have.

Anybody who reaches the service's port can open connections and send nothing, without any token.
When there are too many, the one whose last request began longest ago is closed, unless somebody
whom the Hub knows is being answered on it. A process that has run out of descriptors would accept
nobody, and log a traceback each time it tries.
"""

from __future__ import annotations

import resource
from typing import Any

from tornado import httpserver, httputil, iostream

MOST = 10_000  # connections, where there are descriptors for twice as many
_DESCRIPTORS = 65_536


def room() -> int:
    """How many connections there are descriptors for, after raising the limit as far as allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft // 2)


class Server(httpserver.HTTPServer):
    """An HTTP server with at most so many connections."""

    # the connections, by when their last requests began, the oldest first
    _streams: dict[iostream.IOStream, None]

    def initialize(  # type: ignore[override]
        self, *arguments: Any, most: int, known: set[object], **keywords: Any
    ) -> None:
        """Args:
        most: the number of connections.
        known: the streams on which somebody whom the Hub knows is being answered.
        """
        super().initialize(*arguments, **keywords)
        self._most, self._known, self._streams = most, known, {}

    def handle_stream(self, stream: iostream.IOStream, address: tuple[Any, ...]) -> None:
        while len(self._streams) >= self._most:
            oldest = next((one for one in self._streams if one not in self._known), stream)
            self._streams.pop(oldest, None)
            oldest.close()
            if oldest is stream:
                return
        self._streams[stream] = None
        super().handle_stream(stream, address)

    def start_request(
        self, server_conn: object, request_conn: httputil.HTTPConnection
    ) -> httputil.HTTPMessageDelegate:
        stream = server_conn.stream  # type: ignore[attr-defined]
        if stream in self._streams:
            self._streams[stream] = self._streams.pop(stream)  # now the last one
        return super().start_request(server_conn, request_conn)

    def on_close(self, server_conn: object) -> None:
        self._streams.pop(server_conn.stream, None)  # type: ignore[attr-defined]
        super().on_close(server_conn)
