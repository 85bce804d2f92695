"""The server process of the dashboard, on loopback only."""

from __future__ import annotations

import socket
import webbrowser
from contextlib import suppress
from pathlib import Path

import uvicorn

from samuel.base.errors import SamuelError
from samuel.base.paths import User
from samuel.dashboard.access import Access
from samuel.dashboard.site import Site
from samuel.files import atomic

LOOPBACK = "127.0.0.1"
_OPENER = '<!doctype html><title>Samuel</title><meta http-equiv="refresh" content="0;url={address}">'


class DashboardServer:
    def __init__(self, user: User, port: int) -> None:
        """Listens as soon as it is made. Raises SamuelError if the port is taken."""
        self._user = user
        self._access = Access(user.dashboard)
        self._listener = _listening(port)
        self.port: int = self._listener.getsockname()[1]

    def new_address(self) -> str:
        """An address that works once."""
        return f"http://{LOOPBACK}:{self.port}/?token={self._access.new_token()}"

    def open_browser(self) -> None:
        """Open the user's browser. Other users see command lines, so the address is in a file of this user."""
        file = self._opener
        with suppress(OSError):
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            atomic.write_text(file, _OPENER.format(address=self.new_address()), 0o600, durable=False)
            webbrowser.open(file.as_uri())

    def serve(self) -> None:
        """Answer until SIGINT or SIGTERM."""
        site = Site(self._user, self._access)
        config = uvicorn.Config(
            site.application(),
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=1,
            limit_concurrency=500,
            ws="none",
        )
        server = uvicorn.Server(config)
        site.is_closing = lambda: server.should_exit
        try:
            with suppress(KeyboardInterrupt):  # uvicorn raises the signal again when it has ended
                server.run(sockets=[self._listener])
        finally:
            self._opener.unlink(missing_ok=True)

    @property
    def _opener(self) -> Path:
        return self._user.dashboard / f"open-{self.port}.html"


def _listening(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        hint = "`--port 0` takes any that is free; an open dashboard there may be yours"
        raise SamuelError(f"cannot listen on port `{port}`: {error.strerror}", hint) from None
    return listener
