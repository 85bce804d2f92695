"""Who may look: a token that works once is exchanged for a cookie, and a browser is known by its cookie.

Tokens are in memory only. Of a cookie only the digest is saved, so that an agent that can read the user's state
directory cannot make one up. The cookies hold for every dashboard of this user, also after a restart.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path

import msgspec

from samuel.base.decoding import decode_json
from samuel.files import atomic
from samuel.files.lock import held
from samuel.files.regular import read_regular

FILE = "browsers.json"
COOKIE_AGE = 30 * 24 * 3600  # seconds
MOST_BROWSERS = 200
MOST_TOKENS = 20
_BYTES = 32


class Access:
    """The tokens of this server, and the browsers of this user."""

    def __init__(self, directory: Path, now: Callable[[], float] = time.time) -> None:
        self._directory = directory
        self._file = directory / FILE
        self._now = now
        self._tokens: list[str] = []
        self._signature: tuple[int, ...] = ()
        self._browsers: dict[str, float] = {}
        # Cookies of all ports of 127.0.0.1 are sent to each. Two machines may be seen there through tunnels.
        self.cookie = f"samuel-{sha256(os.fsencode(directory) + _machine()).hexdigest()[:10]}"

    def new_token(self) -> str:
        """A token that can be exchanged once. Of many that are not, the oldest is forgotten."""
        self._tokens = [*self._tokens[1 - MOST_TOKENS :], secrets.token_urlsafe(_BYTES)]
        return self._tokens[-1]

    def exchange(self, token: str) -> str:
        """The value of a new cookie for a token; "" if there is no such token. Raises OSError."""
        match = [own for own in self._tokens if secrets.compare_digest(own.encode(), token.encode())]
        if not match:
            return ""
        self._tokens.remove(match[0])
        value = secrets.token_urlsafe(_BYTES)
        self._add(_digest(value))
        return value

    def knows(self, value: str) -> bool:
        """Whether this is the value of a cookie that was given to a browser."""
        self._load()
        return bool(value) and self._browsers.get(_digest(value), 0.0) > self._now()

    def _add(self, digest: str) -> None:
        self._directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        with held(self._directory / "lock", wait=10, note="samuel dashboard"):
            self._load()
            now = self._now()
            browsers = {browser: until for browser, until in self._browsers.items() if until > now}
            newest = sorted(browsers.items(), key=lambda item: item[1])[1 - MOST_BROWSERS :]
            data = msgspec.json.encode({**dict(newest), digest: now + COOKIE_AGE})
            atomic.write_bytes(self._file, data, 0o600)
            self._load()

    def _load(self) -> None:
        """Read the file if it is another one: a second dashboard may have written it."""
        try:
            status = os.stat(self._file)
        except OSError:
            self._browsers, self._signature = {}, ()
            return
        signature = status.st_ino, status.st_mtime_ns, status.st_size
        if signature == self._signature:
            return
        self._browsers, self._signature = {}, signature
        with suppress(OSError, UnicodeDecodeError, msgspec.MsgspecError):
            self._browsers = decode_json(read_regular(self._file), dict[str, float])


def _digest(value: str) -> str:
    return sha256(value.encode()).hexdigest()


def _machine() -> bytes:
    with suppress(OSError):
        return Path("/etc/machine-id").read_bytes()
    return b""
