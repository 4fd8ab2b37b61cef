"""The event loop of the server."""

from __future__ import annotations

import socket
from collections.abc import Callable

import uvicorn
from starlette.applications import Starlette

__all__ = ["serve_until_told"]


class _Server(uvicorn.Server):
    """Says when it can be asked."""

    def __init__(self, config: uvicorn.Config, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()


def serve_until_told(application: Starlette, listener: socket.socket, ready: Callable[[], None]) -> None:
    """Serve on `listener` until Ctrl-C or SIGTERM."""
    config = uvicorn.Config(
        application,
        log_level="critical",
        access_log=False,
        lifespan="on",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=5,
    )
    _Server(config, ready).run(sockets=[listener])
