"""The client of a server in Python: for `samuel emit`, and as `samuel-emit` where no compiler was at hand.

It imports next to nothing: starting the interpreter is most of its time.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from samuel.base.project_root import project_root
from samuel.emit.call import DENY, LARGEST_STDIN, EmitArguments
from samuel.emit.serve import wire
from samuel.emit.serve.proof import proof_about
from samuel.emit.serve.socket_name import socket_path
from samuel.process.emit_client import NATIVE_CLIENT, NESTED, OFF, SWITCH, installation_of
from samuel.version import __version__

Answer = tuple[int, int, list[tuple[int, bytes]]]  # as `wire.decode_answer` gives it

REPLY_SECONDS = 2.0  # for the server to take the call, and to be about to call handlers


class Cold(Exception):
    """No server answers this call: a process of its own has to. `data` is what was read of stdin, if anything."""

    def __init__(self, reason: str, data: bytes | None = None) -> None:
        super().__init__(reason)
        self.data = data


def emit_or_prepare(arguments: Sequence[str]) -> int | None:
    """The exit code, if the project's server answered; else None, and stdin is as if it had not been read."""
    try:
        return emit_warm(arguments)
    except Cold as cold:
        if cold.data is not None:
            import io  # only where there is no server

            sys.stdin = io.TextIOWrapper(io.BytesIO(cold.data))
        return None


def emit_in_run(arguments: Sequence[str], path: str, pid: str, born: str, fallback: str) -> int:
    """The exit code, if the server of a run answered; else this process becomes the program `fallback`."""
    try:
        if EmitArguments.plain(arguments) is None:
            raise Cold("the command line is not a plain one")
        return emit_warm(arguments, (path, pid, born))
    except Cold as cold:
        return _become(fallback, arguments, cold.data)


def _become(program: str, arguments: Sequence[str], data: bytes | None) -> int:
    """Give stdin, as far as it was read, to a program and become it; the exit code of a denial if that fails."""
    import signal  # with `enum`, too slow for calls that a server answers

    try:
        if data is not None:
            file = os.memfd_create("stdin")  # a run has a server on Linux only
            with open(file, "wb", closefd=False) as stream:
                stream.write(data)
            os.lseek(file, 0, os.SEEK_SET)
            os.dup2(file, 0)
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and the program would
            signal.signal(number, signal.SIG_DFL)
        os.execve(program, (program, *arguments), os.environ)
    except OSError as error:
        return _denied(f"cannot start `{program}`: {error.strerror}")


def emit_warm(arguments: Sequence[str], of_run: Sequence[str] = ()) -> int:
    """Have the server of this project answer a plain `samuel emit`, or that of a run; the exit code, or Cold.

    `of_run` has the path of the run's server, its process id and when it started.
    """
    if sys.stdin is None or sys.stdout is None or sys.stderr is None:
        raise Cold("a standard stream is closed, and the socket would take its place")
    if os.isatty(0) or os.isatty(1):
        raise Cold("a person may be asked, and reads the result")
    try:
        path, installation, directory = _server(of_run)
        server = _Connection(path)
        if of_run and not server.is_process(*of_run[1:]):
            raise Cold("another process listens in the place of the run's server")
        return _converse(server, installation, directory, arguments)
    except OSError as error:
        raise Cold(str(error)) from None


def _server(of_run: Sequence[str] = ()) -> tuple[str, str, str]:
    """Where the server listens, the installation that it belongs to, and the working directory."""
    if os.environ.get(SWITCH) == OFF and not of_run:
        raise Cold(f"`{SWITCH}` is off")
    if os.environ.get(NESTED):
        raise Cold("a hook emits this event")
    directory = os.getcwd()
    installation = installation_of(sys.argv[0], sys.executable)
    path = of_run[0] if of_run else socket_path(project_root(directory), installation, os.environb)
    if not path:
        raise Cold("no directory for sockets belongs to this user alone")
    return path, installation, directory


def tell_socket() -> int:
    """`samuel-emit --socket`: what a program that speaks the protocol itself has to know; else nothing."""
    try:
        path, installation, directory = _server()
        lines = (path, __version__, installation, directory, os.fsdecode(_proof(path)))
        os.write(1, os.fsencode("".join(f"{line}\n" for line in lines)))
    except (Cold, OSError):
        pass
    return 0


def _proof(path: str) -> bytes:
    """What the server at `path` asks of its callers; b"" if there is none."""
    try:
        return _Connection(path).proof
    except OSError:
        return b""


def _converse(server: _Connection, installation: str, directory: str, arguments: Sequence[str]) -> int:
    fields = (wire.EMIT, __version__.encode(), os.fsencode(installation), os.fsencode(directory), server.proof)
    variables = (name + b"=" + value for name, value in os.environb.items())
    data: bytes | None = None
    unanswered: Answer | None = None
    try:
        server.send(wire.header(fields, [os.fsencode(word) for word in arguments], variables))
        # Without waiting for ACCEPTED: meanwhile the server looks at its files.
        data = _stdin()
        server.send(wire.data_frame(data))
        kind, body = server.next_reply()
        if kind == wire.COMMITTED:
            unanswered = wire.decode_answer(body[4:])
            server.wait_for(int.from_bytes(body[:4], "big") / 1000)
            kind, body = server.replies.next()
        if kind == wire.COLD and unanswered is None:
            raise Cold(body.decode(errors="replace"), data)
        if kind != wire.ANSWER:
            raise wire.WireError("a message that this version does not know")
        answer = wire.decode_answer(body)
    except (OSError, wire.WireError) as error:
        # Once handlers may have been called: this answer or that one, never a second call.
        fallback = unanswered or server.fallback_answer()
        if fallback is None:
            raise Cold(str(error), data) from None
        answer = fallback
    return _write(answer)


class _Connection:
    """A connection to the server."""

    def __init__(self, path: str) -> None:
        import _socket  # without `socket`, which costs as much as all the rest

        self._socket = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        self._socket.settimeout(REPLY_SECONDS)
        self._socket.connect(path)
        self.replies = wire.Replies(self._socket.recv)
        self._peer = 0  # its process, where that can be known
        if hasattr(_socket, "SO_PEERCRED"):  # the directory belongs to this user; the server must, too
            credentials = self._socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
            if int.from_bytes(credentials[4:8], sys.byteorder) != os.getuid():
                raise Cold("the server belongs to another user")
            self._peer = int.from_bytes(credentials[:4], sys.byteorder)
        self.proof = proof_about(self._peer) if self._peer > 0 else b""

    def is_process(self, pid: str, born: str) -> bool:
        """Whether the other end is the process with this number that started at this time.

        Whatever an agent starts belongs to the same user, but it has another number, or started later.
        """
        from samuel.process.procfs import born as born_at  # most calls are not a run's

        return self._peer > 0 and str(self._peer) == pid and str(born_at(self._peer)) == born

    def send(self, data: bytes) -> None:
        self._socket.sendall(data)

    def wait_for(self, seconds: float) -> None:
        """Wait at most so long for each of the next messages."""
        self._socket.settimeout(seconds)

    def next_reply(self) -> tuple[bytes, bytes]:
        """The next message that is not just ACCEPTED."""
        while (message := self.replies.next())[0] == wire.ACCEPTED:
            pass
        return message

    def fallback_answer(self) -> Answer | None:
        """The answer in a COMMITTED that came when we no longer waited; None, and then none can come any more."""
        try:
            self._socket.shutdown(2)
            kind, body = self.next_reply()
            return wire.decode_answer(body[4:]) if kind == wire.COMMITTED else None
        except (OSError, wire.WireError):
            return None


def _stdin() -> bytes:
    parts: list[bytes] = []
    room = LARGEST_STDIN + 1
    while room and (part := os.read(0, min(room, 1 << 20))):
        parts.append(part)
        room -= len(part)
    return b"".join(parts)


def _write(answer: Answer) -> int:
    code, failure, output = answer
    for stream, data in output:
        try:
            while data:
                data = data[os.write(stream, data) :]
        except OSError:
            if stream == 1 and failure == DENY:
                return _denied("cannot write its answer, so this is denied")
            if stream == 1:  # the reader of the answer is gone: end as any command would
                return 1 if failure == wire.NO_FAILURE else failure
    return code


def _denied(reason: str) -> int:
    """The exit code of a denial. Codex takes it for a fault of the hook if there is no reason on stderr."""
    try:
        os.write(2, os.fsencode(f"error: `{NATIVE_CLIENT}` {reason}\n"))
    except OSError:
        pass  # its reader is gone
    return DENY
