"""What a client and the server say to each other.

    client  header      command, version, installation, directory, proof, arguments, environment
    client  stdin       at once, or after ACCEPTED
    server  ACCEPTED    I take it, or COLD: answer it without me, and why
    server  COMMITTED   handlers are about to be called; what to answer, and when, if you hear no more from me
    server  ANSWER      exit codes, and what to write to stdout and stderr

Until COMMITTED no handler has been called, so a client that hears nothing may still do without the server. After
it the client waits, and takes the answer that came with COMMITTED if the server is gone: a handler is never called
twice. If no handler is to be called, ANSWER comes without COMMITTED.

All numbers are unsigned, of 32 bits, in network order. Imported by a client that has to be fast.
"""

from __future__ import annotations

from samuel.emit.call import EmitAnswer

TYPE_CHECKING = False  # `typing` is slow to import; type checkers know this name
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    Receive = Callable[[int], bytes]  # gives at most so many bytes, b"" at the end

PROTOCOL = b"samuel-emit 2"
EMIT, STATUS, STOP = b"emit", b"status", b"stop"
ACCEPTED, COLD, COMMITTED, ANSWER = b"A", b"C", b"F", b"R"

LARGEST_HEADER = 4 * 1024 * 1024
LARGEST_FRAME = 64 * 1024 * 1024
NO_FAILURE = 255  # in place of an exit code that is not set


class WireError(Exception):
    """The other side is gone, or does not speak this protocol."""


def header(fields: Sequence[bytes], arguments: Sequence[bytes], environment: Iterable[bytes]) -> bytes:
    """The client's first message; `fields` are command, version, installation, directory and proof."""
    words = (PROTOCOL, *fields, str(len(arguments)).encode(), *arguments, b"\0".join(environment))
    return data_frame(b"\0".join(words))


class Header:
    """The client's first message, read. The variables stay in one piece: they are the same for most calls."""

    arguments: list[bytes]
    variables: bytes

    def __init__(self, data: bytes) -> None:
        try:
            protocol, self.command, version, installation, directory, proof, count, rest = data.split(b"\0", 7)
            *self.arguments, self.variables = rest.split(b"\0", int(count))
        except ValueError:
            raise WireError("a header that this version does not know") from None
        if protocol != PROTOCOL:
            raise WireError("another protocol")
        self.version, self.installation = version.decode(errors="replace"), installation
        self.directory, self.proof = directory, proof


def data_frame(data: bytes) -> bytes:
    """A client's message: its length and its bytes."""
    return len(data).to_bytes(4, "big") + data


def frame(kind: bytes, body: bytes = b"") -> bytes:
    """A message of the server's."""
    return kind + len(body).to_bytes(4, "big") + body


def committed(seconds: float, answer: EmitAnswer, encoding: str) -> bytes:
    """COMMITTED: within how many seconds the answer comes, and what it is if it does not."""
    return frame(COMMITTED, int(seconds * 1000).to_bytes(4, "big") + encode_answer(answer, encoding))


def encode_answer(answer: EmitAnswer, encoding: str) -> bytes:
    failure = NO_FAILURE if answer.failure is None else answer.failure
    parts = [bytes((answer.exit_code, failure))]
    for stream, text in answer.output:
        data = text.encode(encoding, "backslashreplace")
        parts += (bytes((stream,)), len(data).to_bytes(4, "big"), data)
    return b"".join(parts)


def decode_answer(body: bytes) -> tuple[int, int, list[tuple[int, bytes]]]:
    """The exit code, the one if the output cannot be written, and the output by file descriptor.

    WireError if it is not an answer, or not all of one.
    """
    output, at = [], 2
    while at + 5 <= len(body) and body[at] in (1, 2):
        end = at + 5 + int.from_bytes(body[at + 1 : at + 5], "big")
        output.append((body[at], body[at + 5 : end]))
        at = end
    if at != len(body):
        raise WireError("not an answer")
    return body[0], body[1], output


def read_exactly(receive: Receive, size: int) -> bytes:
    parts = [receive(size)]
    while (missing := size - sum(map(len, parts))) and parts[-1]:
        parts.append(receive(missing))
    if missing:
        raise WireError("the other side is gone")
    return b"".join(parts)


def read_data(receive: Receive, largest: int) -> bytes:
    """A client's message."""
    size = int.from_bytes(read_exactly(receive, 4), "big")
    if size > largest:
        raise WireError("a message that is too long")
    return read_exactly(receive, size) if size else b""


class Replies:
    """The server's messages, one after the other. What came of one stays here until all of it has."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._received = b""

    def next(self) -> tuple[bytes, bytes]:
        """Kind and body of the next message. WireError if the server is gone."""
        while len(self._received) < (end := 5 + int.from_bytes(self._received[1:5], "big")):
            if end > 5 + LARGEST_FRAME:
                raise WireError("a message that is too long")
            part = self._receive(1 << 16)
            if not part:
                raise WireError("the server is gone")
            self._received += part
        kind, body = self._received[:1], self._received[5:end]
        self._received = self._received[end:]
        return kind, body
