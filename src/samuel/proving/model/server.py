"""The HTTP server of the scripted model. It listens on 127.0.0.1 only, on a port that the system chooses."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from samuel.files.json import InvalidJson, parse, write
from samuel.proving.model.anthropic import ANTHROPIC
from samuel.proving.model.chat import CHAT
from samuel.proving.model.gemini import GEMINI
from samuel.proving.model.responses import RESPONSES
from samuel.proving.model.wire import DONE, MODEL, Step, ToolCall, ToolResult, WireFormat, encoded

FORMATS: tuple[WireFormat, ...] = (ANTHROPIC, RESPONSES, CHAT, GEMINI)
LARGEST_REQUEST = 64 * 1024 * 1024


class ModelRequest(NamedTuple):
    """One time that a client asked the model."""

    format: str
    """The name of the wire format."""
    tools: tuple[str, ...]
    """The tools that the client offers; () where it asks for something else, such as a title."""
    results: tuple[ToolResult, ...]
    """What the model is told about its calls so far."""
    step: Step
    """What it answered."""


class ModelServer:
    """A model that plays `steps`, for one client after another, from `__enter__` to `__exit__`.

    The step is chosen by the number of tool results in the request, so a client that asks again gets the same
    answer. A request that offers no tools, or not the one that the step calls, gets a short text. With `main`, a
    conversation that does not contain this text, which is that of a subagent, gets the steps of `others`.
    """

    def __init__(self, steps: Sequence[Step], main: str = "", others: Sequence[Step] = ()) -> None:
        self.steps = tuple(steps)
        self._main, self._others = main, tuple(others)
        self._lock = threading.Lock()
        self._requests: list[ModelRequest] = []
        self._http = _LoopbackServer(("127.0.0.1", 0), _RequestHandler)
        self._http.model = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`, without a path."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def requests(self) -> list[ModelRequest]:
        """Every request so far, the first one first."""
        with self._lock:
            return list(self._requests)

    @property
    def tool_results(self) -> tuple[ToolResult, ...]:
        """What the model was told about its calls, in the longest conversation."""
        return max((request.results for request in self.requests), key=len, default=())

    def answer(self, wire: WireFormat, body: dict[str, Any]) -> tuple[Step, str]:
        """The step for a request, which is recorded, and the id of its call."""
        results, tools = wire.tool_results(body), wire.tools(body)
        steps = self._others if self._main and self._main not in write(body).decode() else self.steps
        step = steps[len(results)] if len(results) < len(steps) else DONE
        if isinstance(step, ToolCall) and step.tool not in tools:
            step = DONE
        with self._lock:
            self._requests.append(ModelRequest(wire.name, tools, results, step))
        return step, f"call_{len(results) + 1}"

    def __enter__(self) -> ModelServer:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()


class _LoopbackServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # a client may keep a connection open for as long as it likes
    model: ModelServer

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Whether the client belongs to this user: no other user may use up the script."""
        return user_of(client_address[1], self.server_port) in (None, os.getuid())

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no error of ours."""


def user_of(port: int, server_port: int, table: str = "/proc/net/tcp") -> int | None:
    """Whose connection from a port to that of the server this is, both of 127.0.0.1; None if that is not known."""
    ends = [f"0100007F:{port:04X}", f"0100007F:{server_port:04X}"]
    try:
        with open(table, encoding="ascii") as file:
            rows = (line.split() for line in file)
            return next((int(row[7]) for row in rows if row[1:3] == ends), None)
    except (OSError, ValueError, IndexError):  # another system has none
        return None


class _RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _LoopbackServer

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        if path.endswith("/models"):
            model = {"id": MODEL, "object": "model", "created": 1, "owned_by": "samuel", "context_length": 200_000}
            self._send(200, {"object": "list", "data": [model]})
        else:
            self._send(404, _not_found(path))

    def do_POST(self) -> None:
        path, body = urlsplit(self.path).path, self._body()
        wire = next((wire for wire in FORMATS if wire.path.fullmatch(path)), None)
        if body is None:
            self._send(400, {"error": {"message": "the body is not a JSON object"}})
        elif path.endswith(("/count_tokens", ":countTokens")):
            self._send(200, {"input_tokens": 1, "totalTokens": 1})
        elif wire is None:
            self._send(404, _not_found(path))
        else:
            step, call = self.server.model.answer(wire, body)
            model = str(body.get("model") or MODEL)
            if wire.streams(path, body):
                self._stream([encoded(frame) for frame in wire.frames(step, call, model)])
            else:
                self._send(200, wire.whole(step, call, model))

    def _body(self) -> dict[str, Any] | None:
        """The JSON object of the request; None if it is none."""
        try:
            data = self._data()
            if self.headers.get("Content-Encoding") == "gzip":
                data = gzip.decompress(data)
            body = parse(data)
        except (InvalidJson, ValueError, OSError, EOFError):
            self.close_connection = True  # what is left of the body is not the next request
            return None
        return body if isinstance(body, dict) else None

    def _data(self) -> bytes:
        """The bytes of the body; ValueError if they are too many or their number is not known."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self._read(int(self.headers.get("Content-Length", "0")))
        data = b""
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            data += self._read(size, LARGEST_REQUEST - len(data))
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass  # trailing headers
        return data

    def _read(self, size: int, most: int = LARGEST_REQUEST) -> bytes:
        if not 0 <= size <= most:
            raise ValueError(f"a body of {size} bytes")
        return self.rfile.read(size)

    def _send(self, status: int, value: object) -> None:
        data = write(value)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, frames: Sequence[bytes]) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        for frame in frames:
            self.wfile.write(frame)
            self.wfile.flush()
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """What the model was asked is recorded, not printed."""


def _not_found(path: str) -> dict[str, Any]:
    return {"error": {"message": f"no such path: {path}"}}
