"""One HTTP request for a module, to a host it was granted and to no other.

Redirects are not followed and the environment's proxies are not used: either would be another host. It runs in a
thread that is left alone when the time is over, because looking a name up cannot be stopped.
"""

from __future__ import annotations

import http.client
import queue
import threading
import time
from collections.abc import Sequence
from urllib.parse import SplitResult, urlsplit

import msgspec

from samuel.decoding import json_decoder
from samuel.hooks.capability import NETWORK
from samuel.runtimes.wasm.codes import LARGEST, BadArgument, Denied, Failed, NoAnswer, TooLarge

_SET_BY_US = frozenset(("host", "connection", "content-length", "transfer-encoding"))


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    url: str
    method: str = "GET"
    headers: dict[str, str] = {}
    body: str = ""


class _Response(msgspec.Struct):
    status: int
    headers: dict[str, str]
    body: str


_decode = json_decoder(_Request)
_encode = msgspec.json.Encoder().encode


def fetch(request: bytes, hosts: Sequence[str], deadline: float) -> bytes:
    """The response as JSON. `deadline` is on time.perf_counter's clock."""
    try:
        asked = _decode(request)
        url = urlsplit(asked.url)
        host, port = url.hostname or "", url.port
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise BadArgument(f"net: {error}") from None
    if url.scheme not in ("http", "https") or not host or not asked.url.isascii() or "@" in url.netloc:
        raise BadArgument(f"net: {asked.url!r} is no plain http or https URL")
    if refused := _SET_BY_US & {name.lower() for name in asked.headers}:
        raise BadArgument(f"net: the header `{min(refused)}` is not the module's to set")
    if host not in hosts and (port is None or f"{host}:{port}" not in hosts):
        raise Denied(f"it tried to reach `{url.netloc}`, and `{NETWORK}` does not list that")
    return _in_time(asked, url, deadline)


def _in_time(asked: _Request, url: SplitResult, deadline: float) -> bytes:
    answers: queue.SimpleQueue[bytes | NoAnswer] = queue.SimpleQueue()

    def work() -> None:
        try:
            answers.put(_exchange(asked, url, deadline))
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


def _exchange(asked: _Request, url: SplitResult, deadline: float) -> bytes:
    kind = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = kind(url.hostname or "", url.port, timeout=max(deadline - time.perf_counter(), 0.001))
    try:
        target = (url.path or "/") + (f"?{url.query}" if url.query else "")
        connection.request(asked.method, target, asked.body.encode() or None, asked.headers)
        response = connection.getresponse()
        body = response.read(LARGEST + 1)
        if len(body) > LARGEST:
            raise TooLarge(f"net: `{url.netloc}` answered with more than {LARGEST} bytes")
        headers = {name.lower(): value for name, value in response.getheaders()}
        return _encode(_Response(response.status, headers, body.decode("utf-8", "replace")))
    finally:
        connection.close()
