"""The host function `net`: an HTTP request to a host that the module was granted.

Redirects are not followed and the environment's proxies are not used: both may be other hosts. The request runs in
a thread that is abandoned at the deadline, because a DNS lookup cannot be interrupted.
"""

from __future__ import annotations

import http.client
import queue
import threading
import time
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

import msgspec

from samuel.base.decoding import json_decoder
from samuel.hooks.capability import NETWORK
from samuel.runtimes.wasm.codes import LARGEST, BadArgument, Denied, Failed, NoAnswer, TooLarge

_SET_BY_SAMUEL = frozenset(("host", "connection", "content-length", "transfer-encoding"))


class _HttpRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What the module asks for."""

    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str = ""


class _HttpResponse(msgspec.Struct):
    """What the module gets."""

    status: int
    headers: dict[str, str]
    body: str


_decode = json_decoder(_HttpRequest)
_encode = msgspec.json.Encoder().encode


def fetch(request: bytes, hosts: Sequence[str], deadline: float) -> bytes:
    """The response as JSON. `deadline` is a time of time.perf_counter."""
    try:
        http_request = _decode(request)
        url = urlsplit(http_request.url)
        host, port = url.hostname or "", url.port
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise BadArgument(f"net: {error}") from None
    if url.scheme not in ("http", "https") or not host or not http_request.url.isascii() or "@" in url.netloc:
        raise BadArgument(f"net: {http_request.url!r} is not a plain http or https URL")
    if refused := _SET_BY_SAMUEL & {name.lower() for name in http_request.headers}:
        raise BadArgument(f"net: the header `{min(refused)}` cannot be set by a module")
    if host not in hosts and (port is None or f"{host}:{port}" not in hosts):
        raise Denied(f"it tried to reach `{url.netloc}`, and `{NETWORK}` does not list that")
    return _exchange_before_deadline(http_request, url, deadline)


def _exchange_before_deadline(http_request: _HttpRequest, url: SplitResult, deadline: float) -> bytes:
    answers: queue.SimpleQueue[bytes | NoAnswer] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(_exchange(http_request, url, deadline))
        except NoAnswer as error:
            answers.put(error)
        except (OSError, ValueError, http.client.HTTPException) as error:
            answers.put(Failed(f"net: `{url.netloc}`: {error or type(error).__name__}"))

    threading.Thread(target=work, name="samuel-wasm-net", daemon=True).start()
    try:
        answer = answers.get(timeout=max(deadline - time.perf_counter(), 0.0))
    except queue.Empty:
        raise Failed(f"net: `{url.netloc}` has not answered in time") from None
    if isinstance(answer, NoAnswer):
        raise answer
    return answer


def _exchange(http_request: _HttpRequest, url: SplitResult, deadline: float) -> bytes:
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=max(deadline - time.perf_counter(), 0.001))
    try:
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request(http_request.method, target, http_request.body.encode() or None, http_request.headers)
        response = connection.getresponse()
        body = response.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise TooLarge(f"net: `{url.netloc}` answered with more than {LARGEST} bytes")
        headers = {name.lower(): value for name, value in response.getheaders()}
        return _encode(_HttpResponse(response.status, headers, body.decode("utf-8", "replace")))
    finally:
        connection.close()
