"""The server of one project: answers calls of `samuel emit` over a unix socket until it has been idle for a while.

Each call has a thread. Threads wait for a connection themselves, so that no other one has to be woken in between;
one more is started whenever all of them are busy, so that a hook that hangs does not hold up other calls.
"""

from __future__ import annotations

import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import samuel
from samuel.app.enclosing import guard_steps
from samuel.base.errors import SamuelError
from samuel.base.paths import User
from samuel.base.project_root import project_root
from samuel.emit.call import EmitAnswer, EmitArguments
from samuel.emit.client_event import answer_client
from samuel.emit.event import answer_event
from samuel.emit.host import EmitHost
from samuel.emit.serve import wire
from samuel.emit.serve.control import ServerStatus
from samuel.emit.serve.incoming import Incoming
from samuel.emit.serve.peer import Surroundings
from samuel.emit.serve.proof import offer
from samuel.emit.serve.warm_project import WarmProject
from samuel.events.catalogue import BY_PAYLOAD
from samuel.files.json import MAX_BYTES
from samuel.files.survey import Signature, TooManyFiles, survey_place
from samuel.process.tree import CallsEnded, check_calls, end_calls
from samuel.version import __version__

if TYPE_CHECKING:
    from samuel.app import App
    from samuel.emit.serve.warm_project import OpenProject
    from samuel.events import Event

MOST_THREADS = 256
FILES_OF_A_CALL = 8  # open ones: four while a script runs, and more while it is started
FILES_OF_ITS_OWN = 32  # the socket, the journal, and whatever a look at the project opens
SPARE_THREADS = 3  # that wait for a connection: a call that finds none has to start one, and waits for it
AT_ONCE_SECONDS = 0.1  # a project that took longer was opened again: the client is told that it was
HEADER_SECONDS = 5.0  # a client sends its header at once
STDIN_SECONDS = 600.0  # the program that started the client may take its time
MARGIN_SECONDS = 10.0  # for what happens around the handlers
LOOK_EVERY = 5.0  # seconds between two looks at what ends a server
FINISH_SECONDS = 5.0  # for the calls that are under way when the server is told to stop
CLEAN_UP_SECONDS = 1.0  # for those whose handlers were killed then, to end what these left


class Server:
    """Answers on a listening socket."""

    def __init__(
        self,
        listener: socket.socket,
        path: str,
        root: Path,
        installation: str,
        idle: float | None,
        *,
        of_run: bool = False,
    ) -> None:
        """`path` is where the socket is. The server ends after `idle` seconds without a call, if that is not None.

        `of_run`: the directory and the variables of hooks are those of the run, whatever those of a caller are.
        """
        self._listener = listener
        self._path, self._inode = path, os.stat(path).st_ino
        self._root = root
        self._installation = os.fsencode(installation)
        self._idle = idle
        self._surroundings = Surroundings(User.from_environment().live)
        self._proof = offer()
        self._own_files = _package_files()
        self._of_run = of_run
        self._project = WarmProject(root, of_run=of_run)
        self._encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
        self._most_calls = _most_calls()
        self._lock = threading.Lock()
        self._threads = self._waiting = self._under_way = self._calls = self._left = 0
        self._last_reason = ""
        self._started = self._last = time.monotonic()
        self._told_to_stop = threading.Event()

    def serve(self) -> None:
        """Answer until idle, until project, socket or this version of Samuel are gone, or until told to stop."""
        signal.signal(signal.SIGTERM, lambda number, frame: self._told_to_stop.set())
        for _ in range(SPARE_THREADS):
            self._start_thread()
        try:
            seconds = LOOK_EVERY if self._idle is None else min(LOOK_EVERY, self._idle)
            while not self._told_to_stop.wait(seconds) and not self._has_ended():
                pass
        finally:  # also for Ctrl-C
            self._end()

    def _has_ended(self) -> bool:
        return (
            self._is_idle()
            or not self._root.is_dir()
            or not self._is_at_its_path()
            or _package_files() != self._own_files
        )

    def _is_idle(self) -> bool:
        with self._lock:
            seconds = time.monotonic() - self._last
            return self._idle is not None and not self._under_way and seconds > self._idle

    def _is_at_its_path(self) -> bool:
        """Whether clients can still find this server: its socket may have been removed."""
        try:
            return os.stat(self._path).st_ino == self._inode
        except OSError:
            return False

    def _end(self) -> None:
        """Take no more calls, give those that are under way a moment, and leave nothing running.

        A call whose handlers are killed gets no answer: its client takes the one that came with COMMITTED.
        """
        if self._is_at_its_path():
            with suppress(OSError):
                os.unlink(self._path)
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._wait_for_calls(FINISH_SECONDS)
        end_calls()
        self._wait_for_calls(CLEAN_UP_SECONDS)
        end_calls()  # what was about to be started before
        self._project.close()

    def _wait_for_calls(self, seconds: float) -> None:
        """Until no call is under way, but no longer than this."""
        until = time.monotonic() + seconds
        while self._under_way and time.monotonic() < until:
            time.sleep(0.01)

    # Threads

    def _start_thread(self) -> None:
        with self._lock:
            if self._threads >= MOST_THREADS:
                return  # clients that are not accepted do without the server
            self._threads += 1
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        """Take one connection after the other, for as long as not enough other threads wait for one too."""
        while True:
            with self._lock:
                self._waiting += 1
            try:
                connection, _ = self._listener.accept()
            except OSError:  # the server ends, or there are too many open files
                if self._told_to_stop.wait(0.1) or not self._is_at_its_path():
                    break
                connection = None
            with self._lock:
                self._waiting -= 1
                alone = not self._waiting
            if connection is None:
                continue
            if alone:
                self._start_thread()
            with connection:
                self._handle(connection)
            with self._lock:
                if self._waiting >= SPARE_THREADS:
                    break
        with self._lock:
            self._threads -= 1

    def _handle(self, connection: socket.socket) -> None:
        with self._lock:
            self._under_way += 1
        try:
            self._converse(connection)
        except (OSError, wire.WireError):  # the client is gone, or too slow: it has done without us
            pass
        except CallsEnded:  # the client does without us, or has the answer for this case
            pass
        finally:
            with self._lock:
                self._under_way -= 1

    # One call

    def _converse(self, connection: socket.socket) -> None:
        incoming = Incoming(connection)
        incoming.wait_for(HEADER_SECONDS)
        header = wire.Header(wire.read_data(incoming.receive, wire.LARGEST_HEADER))
        objection = self._surroundings.objection(connection)
        if header.command != wire.EMIT and not objection:
            self._answer_command(header.command, connection)
            return
        arguments = EmitArguments.plain([os.fsdecode(word) for word in header.arguments])
        if objection := objection or self._objection(header, arguments):
            self._send_cold(connection, objection)
            return
        assert arguments is not None
        try:
            is_here = incoming.has_message()
            if not is_here:  # it may take long: what can be objected is said now, and looked at once more then
                with self._project_for(header, arguments):
                    connection.sendall(wire.frame(wire.ACCEPTED))  # the client may wait for this
            data = self._stdin(incoming, wait=not is_here)
            began = time.monotonic()
            # As in a process of its own, what changes before stdin is here counts.
            with self._project_for(header, arguments) as project:
                if is_here and time.monotonic() - began > AT_ONCE_SECONDS:
                    connection.sendall(wire.frame(wire.ACCEPTED))
                answer = self._answer(arguments, data, project, connection)
        except SamuelError as error:  # where the project cannot be opened, the client's own process says why
            self._send_cold(connection, error.message)
            return
        with self._lock:
            self._calls += 1
            self._last = time.monotonic()  # status probes do not reset the idle timer
        check_calls()  # what came to this answer may have been killed
        connection.sendall(wire.frame(wire.ANSWER, wire.encode_answer(answer, self._encoding)))

    @contextmanager
    def _project_for(self, header: wire.Header, arguments: EmitArguments) -> Iterator[OpenProject]:
        """The project as it is now. SamuelError if it cannot be opened, or not for this caller."""
        # In a run the caller's directory does not count; but the root is no project any more if the agent removed
        # samuel.toml and .git.
        directory = str(self._root) if self._of_run else os.fsdecode(header.directory)
        if project_root(directory) != str(self._root):
            raise SamuelError("the directory belongs to another project")
        with self._project.current(arguments, _logical_directory(header.variables)) as project:
            if objection := project.variables.objection(header.variables):
                raise SamuelError(objection)
            yield project

    def _stdin(self, incoming: Incoming, *, wait: bool) -> bytes:
        """The client's stdin; without `wait` all of it is here."""
        if wait:
            incoming.wait_for(STDIN_SECONDS)
        data = wire.read_data(incoming.receive, MAX_BYTES + 1)
        if wait:
            incoming.wait_for(HEADER_SECONDS)
        return data

    def _objection(self, header: wire.Header, arguments: EmitArguments | None) -> str:
        """Why this client is not answered here; "" if it is."""
        if header.version != __version__:
            return f"the client is of version {header.version}, the server of {__version__}"
        if header.installation != self._installation:
            return "the client belongs to another installation"
        if header.proof != self._proof:
            return "the caller does not prove that nothing confines it (landlock)"
        if arguments is None:
            return "the command line is not a plain one"
        if self._under_way > self._most_calls:
            return "more calls are under way than the server's limit of open files allows for"
        return ""

    def _answer(
        self, arguments: EmitArguments, data: bytes, project: OpenProject, connection: socket.socket
    ) -> EmitAnswer:
        def firing(app: App, event: Event, unanswered: EmitAnswer) -> None:
            check_calls()
            connection.sendall(wire.committed(_longest(app, event), unanswered, self._encoding))

        host = EmitHost(root=lambda: self._root, opened=lambda _: nullcontext(project.app), firing=firing)
        words = ["emit", arguments.event]
        return (answer_client if arguments.client else answer_event)(words, arguments, lambda: data, host)

    def _send_cold(self, connection: socket.socket, reason: str) -> None:
        with self._lock:
            self._left += 1
            self._last_reason = reason
        connection.sendall(wire.frame(wire.COLD, reason.encode(errors="replace")))

    # About the server

    def _answer_command(self, command: bytes, connection: socket.socket) -> None:
        if command == wire.STOP:
            self._told_to_stop.set()
        connection.sendall(wire.frame(wire.ANSWER, msgspec.json.encode(self._status())))

    def _status(self) -> ServerStatus:
        now = time.monotonic()
        with self._lock:
            return ServerStatus(
                pid=os.getpid(),
                root=str(self._root),
                socket=self._path,
                version=__version__,
                uptime_s=round(now - self._started, 1),
                idle_s=round(now - self._last, 1),
                ends_after_idle_s=self._idle,
                calls=self._calls,
                left_to_others=self._left,
                last_reason=self._last_reason,
                under_way=self._under_way - 1,  # without the one that asks
                threads=self._threads,
                memory_bytes=_memory(),
            )


def _package_files() -> dict[str, Signature]:
    """The files of Samuel itself: a server whose program was replaced, as by an update, ends soon."""
    try:
        return survey_place(os.path.dirname(samuel.__file__))
    except (OSError, TooManyFiles):
        return {}


def _most_calls() -> int:
    """How many calls can be under way without a lack of open files, of which hooks could not be started.

    The limit is that of the caller who started the server. It is not raised, since hooks would inherit that.
    """
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return MOST_THREADS
    return min((soft - FILES_OF_ITS_OWN) // FILES_OF_A_CALL, MOST_THREADS)


def _longest(app: App, event: Event) -> float:
    """Within how many seconds the handlers of an event end. Those that judge tool calls may be called twice."""
    kind = BY_PAYLOAD[type(event)]
    around = [step for project in app.enclosing for step in guard_steps(project, kind)]
    steps = (*app.chains[kind.name].steps, *around)
    return 2 * sum(step.timeout for step in steps if not step.background) + MARGIN_SECONDS


def _logical_directory(variables: bytes) -> str:
    """The PWD of a caller with these variables (`NAME=value`, with NUL between them); "" if it has none."""
    _, mark, rest = (b"\0" + variables).partition(b"\0PWD=")
    return os.fsdecode(rest.partition(b"\0")[0]) if mark else ""


def _memory() -> int:
    """The resident memory of this process; 0 where that cannot be known."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0
