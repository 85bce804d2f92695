"""What every request passes before a page is made: the name of the host, the origin, and the cookie.

A page of another origin can make a browser send requests here, and a name of another domain can be made to point
here (DNS rebinding). The first is told by Origin, the second by Host.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qs

from markupsafe import escape
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samuel.base.errors import SamuelError
from samuel.dashboard.access import COOKIE_AGE, Access
from samuel.files.explained import reason

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; worker-src 'self'; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
READING = ("GET", "HEAD")
_HOST = re.compile(r"(127\.0\.0\.1|localhost)(:[0-9]{1,5})?", re.IGNORECASE)


class RefusedRequest(NamedTuple):
    """Why a request is not answered."""

    status: int
    words: str
    again: bool = False
    """The browser left the cookie out, as the request began on another site: let it ask again from here."""


class RequestGuard:
    """Answers only a known browser that asks for a page of this server, and writes the headers of every answer."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                others = [pair for pair in message["headers"] if pair[0].decode("latin-1") not in HEADERS]
                message = {**message, "headers": [*others, *own]}
            await send(message)

        answer = self._answer(scope)
        await (answer or self._app)(scope, receive, guarded)

    def _answer(self, scope: Scope) -> Response | None:
        """The answer to a request that no page is made for."""
        headers: dict[str, list[str]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.decode("latin-1").lower(), []).append(value.decode("latin-1"))
        if refusal := self._wrong_address(scope["method"], headers):
            return _refused(refusal)
        tokens = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        if tokens and scope["method"] == "GET":
            try:
                cookie = self._access.exchange(tokens[0])
            except (OSError, SamuelError) as error:
                return _refused(RefusedRequest(500, f"the browser cannot be remembered: {reason(error)}"))
            if cookie:
                return self._with_cookie(cookie)
            return _refused(RefusedRequest(403, "this address was used before, or is not of this server"))
        if self._is_known(headers):
            return None
        # A link on another site, or in a file: the browser sends the cookie when this page itself asks.
        site, mode = headers.get("sec-fetch-site", []), headers.get("sec-fetch-mode", [])
        again = site in (["cross-site"], ["same-site"]) and mode == ["navigate"]
        return _refused(RefusedRequest(401, "this browser is not known here", again))

    def _wrong_address(self, method: str, headers: dict[str, list[str]]) -> RefusedRequest | None:
        hosts, origins = headers.get("host", []), headers.get("origin", [])
        if len(hosts) != 1 or not _HOST.fullmatch(hosts[0]):
            return RefusedRequest(421, "this server is only at 127.0.0.1 and localhost")
        if method not in READING and len(origins) != 1:
            return RefusedRequest(403, "a request that changes something names its origin")
        if any(origin.lower() != f"http://{hosts[0]}".lower() for origin in origins):
            return RefusedRequest(403, "a page of another origin asks")
        sites = headers.get("sec-fetch-site", [])
        if method not in READING and any(site not in ("same-origin", "none") for site in sites):
            return RefusedRequest(403, "a page of another site asks")
        return None

    def _is_known(self, headers: dict[str, list[str]]) -> bool:
        """Servers on other ports of this host set cookies too, of any form."""
        pairs = [pair.strip().partition("=") for text in headers.get("cookie", []) for pair in text.split(";")]
        return any(name == self._access.cookie and self._access.knows(value) for name, _, value in pairs)

    def _with_cookie(self, cookie: str) -> Response:
        """Without the token in the address, so that it is not in the browser's history."""
        response = RedirectResponse("/", status_code=303)
        response.set_cookie(
            self._access.cookie, cookie, max_age=COOKIE_AGE, path="/", httponly=True, samesite="strict"
        )
        return response


def _refused(refusal: RefusedRequest) -> Response:
    again = '<meta http-equiv="refresh" content="0">' if refusal.again else ""
    hint = "Type <code>samuel dashboard</code> in a terminal, and open the address that it prints."
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">{again}<title>Samuel</title></head>'
        f"<body><p>Not answered: {escape(refusal.words)}.</p><p>{hint}</p></body></html>"
    )
    return HTMLResponse(page, status_code=refusal.status)
