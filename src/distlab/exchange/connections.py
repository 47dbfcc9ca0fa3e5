"""The service's connections: as many as it has descriptors for, whoever opens them.

Whoever reaches the service's port can open connections and say nothing, without any token. Where
there are too many, the one whose request is awaited longest makes room, unless somebody whom the
Hub knows is being answered on it. A process without descriptors would take no connection at all,
and write a traceback each time that it tries.
"""

from __future__ import annotations

import resource
from typing import Any

from tornado import httpserver, httputil, iostream

MOST = 10_000  # connections, where there are descriptors for twice as many
_DESCRIPTORS = 65_536


def room() -> int:
    """For how many connections there are descriptors, once this process has all that it may."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, _DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MOST if soft == resource.RLIM_INFINITY else min(MOST, soft // 2)


class Server(httpserver.HTTPServer):
    """An HTTP server with at most so many connections."""

    # the connections, the one whose last request began first before others
    _streams: dict[iostream.IOStream, None]

    def initialize(  # type: ignore[override]
        self, *arguments: Any, most: int, known: set[object], **keywords: Any
    ) -> None:
        """Args:
        most: connections.
        known: the streams on which somebody is being answered whom the Hub knows.
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
