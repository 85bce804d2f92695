"""Runs third-party Python hooks in worker processes, so that they can be killed at their deadline.

Each directory of hooks, plugin and distribution has workers of its own. A worker runs one call at a time, and is
kept for the next one (`warm_pool`). After a kill or a crash the next call starts a new one.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import msgspec

from samuel.base.decoding import json_decoder
from samuel.events import Event
from samuel.events.catalogue import BY_PAYLOAD
from samuel.files.json import InvalidJson, too_deep
from samuel.hooks.handler import Handler, Origin, Outcome, Package
from samuel.process.compiled_python import keep_uncompiled
from samuel.process.conversation import Conversation, ConversationReply
from samuel.process.forked import can_fork
from samuel.process.output import ending
from samuel.process.reason import NotGranted, NotRunnable
from samuel.runtimes.base import Reply, Setting, timed_out, too_much_output
from samuel.runtimes.results import decode
from samuel.runtimes.warm_pool import MOST, AllBusy, WarmPool
from samuel.runtimes.worker import WorkerReply, WorkerRequest, serve
from samuel.trust.content import NO_CONTENT, TrustedContent

if TYPE_CHECKING:
    from samuel.runtimes.confined import Confinement, Stamp

_encode = msgspec.json.Encoder().encode

SAMUEL = str(Path(__file__).parents[2])
"""The directories from which a worker imports Samuel (SAMUEL) and its dependencies (NEEDED)."""
NEEDED = str(Path(msgspec.__file__).parents[1])

# -P and appending to the path: neither the project's modules nor Samuel's may shadow others.
_PATH = "import os, sys; sys.path += sys.argv.pop(1), sys.argv.pop(1); from samuel.runtimes.worker import main; "
START = f"{_PATH}main()"
# Samuel's own bytecode is used where it is; that of the plugin is written to the plugin's own cache.
START_WALLED = f"{_PATH}sys.pycache_prefix = os.environ['PYTHONPYCACHEPREFIX']; main()"


class _DecodedReply(msgspec.Struct):
    """A worker's reply: a result, or why there is none."""

    result: dict[str, Any] = {}
    crash: str = ""
    bad: str = ""
    changed: str = ""


_decode_reply = json_decoder(_DecodedReply)
_STALE = _encode(WorkerReply(stale=True)) + b"\n"
_SPENT = b'"spent":true}\n'  # the end of a reply after which the worker ends


class _WorkerOwner(msgspec.Struct, frozen=True):
    """The hooks that share a worker."""

    name: str
    package: Package | None = None
    directory: str = ""  # of their files, which are trusted together
    asking: bool = False  # the worker only reports which handlers its files declare


class _Worker(msgspec.Struct):
    """A worker process."""

    conversation: Conversation
    stamp: Stamp = ()  # of the paths in its walls when it was started
    stamp_now: Callable[[], Stamp] = tuple
    content: TrustedContent = NO_CONTENT  # what it was told of the latest permit

    def is_usable(self) -> bool:
        return self.stamp == self.stamp_now() and not self.conversation.stale

    def close(self) -> None:
        self.conversation.close()


class PythonRuntime:
    """Calls handlers that are Python functions of third parties."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._root = str(setting.root)
        self._environment = setting.environment
        self._limit = setting.limits.handler_output_bytes
        self._pycache = str(setting.cache / "pycache")
        self._workers: WarmPool[_Worker] = WarmPool()

    @cached_property
    def confinement(self) -> Confinement:
        """The walls around plugins, which discovery uses too."""
        return self._setting.confinement()

    def call(self, handler: Handler, event: Event, timeout: float, content: TrustedContent = NO_CONTENT) -> Reply:
        if handler.path and not os.path.exists(handler.path):  # also when a worker still has it loaded
            return Reply(Outcome.NOT_STARTED, message=f"`{handler.path}` does not exist")
        request = WorkerRequest(
            handler.path or handler.module,
            handler.entry,
            BY_PAYLOAD[type(event)].name,
            cast(msgspec.Raw, event),  # not encoded beforehand: as a part of the request it is encoded once
            bound=handler.package is not None or bool(handler.file),
        )
        return self._ask(self._owner_of(handler), request, timeout, content)

    def describe(
        self,
        target: str,
        worker: str,
        timeout: float,
        package: Package | None = None,
        content: TrustedContent = NO_CONTENT,
    ) -> Reply:
        """The handlers that a file or a module declares: `result["declared"]`. A plugin is loaded in its walls."""
        if package is not None:
            worker = f"{worker}:{self.confinement.key(package)}"
        return self._ask(_WorkerOwner(worker, package, asking=True), WorkerRequest(target), timeout, content)

    def close(self) -> None:
        for worker in self._workers.close():
            worker.close()

    def _ask(self, owner: _WorkerOwner, request: WorkerRequest, timeout: float, content: TrustedContent) -> Reply:
        until = time.perf_counter() + timeout
        try:
            worker = self._workers.take(owner.name, lambda: self._start(owner), timeout)
        except AllBusy:
            why = f"{MOST} calls of hooks like it were under way, and none ended within {timeout:g}s"
            return Reply(Outcome.NOT_STARTED, message=why)
        except NotGranted as error:
            return Reply(Outcome.REFUSED, message=str(error))
        except NotRunnable as error:
            return Reply(Outcome.NOT_STARTED, message=str(error))
        # It is told only of another content: a directory may have many files.
        request.content = None if content is worker.content or content == worker.content else content
        worker.content = content
        try:
            left = until - time.perf_counter()
            worker_reply = worker.conversation.ask(_encode(request) + b"\n", timeout=left, limit=self._limit)
        except BaseException:
            self._workers.discard(owner.name, worker)
            raise
        if worker.conversation.over or worker_reply.answer == _STALE or worker_reply.answer.endswith(_SPENT):
            self._workers.discard(owner.name, worker)
        else:
            self._workers.give_back(owner.name, worker)
        if worker_reply.answer == _STALE:  # nothing was called: a new worker loads what changed
            return self._ask(owner, request, until - time.perf_counter(), content)
        return self._reply(worker_reply, timeout)

    def _start(self, owner: _WorkerOwner) -> _Worker:
        if owner.package is None:
            if owner.directory not in ("", self._root):  # the root has everything else, too
                keep_uncompiled(owner.directory, self._pycache)
            argv = [sys.executable, "-P", "-X", f"pycache_prefix={self._pycache}", "-c", START, SAMUEL, NEEDED]
            forked = _serve_forked if self._setting.forks and can_fork(self._environment) else None
            return _Worker(Conversation(argv, cwd=self._root, env=self._environment, forked=forked))
        return self._start_walled(owner, owner.package)

    def _start_walled(self, owner: _WorkerOwner, package: Package) -> _Worker:
        walls = self.confinement
        keep_uncompiled(package.directory, walls.pycache(package))
        argv = [package.python or sys.executable, "-E", "-P", "-c", START_WALLED, SAMUEL, NEEDED]
        # Taken before the paths are opened, so that the next call notices what changes meanwhile.
        stamp = () if owner.asking else walls.first_stamp(package)
        with walls.walled(package, argv, asking=owner.asking, stays=True, visible=(SAMUEL, NEEDED)) as command:
            cwd = walls.inside(package, asking=owner.asking).root
            env = walls.environment(package, argv[0])
            fds, release = command.pass_fds, command.release
            conversation = Conversation(command.argv, cwd=cwd, env=env, pass_fds=fds, after=release)
            return _Worker(conversation, stamp, tuple if owner.asking else partial(walls.stamp, package))

    def _owner_of(self, handler: Handler) -> _WorkerOwner:
        """The owner of the worker for a handler: its directory, plugin or distribution.

        Two directories never share a worker: a hook of one could import a helper of the other, and the permit of a
        hook covers only its own directory. Nor do two sets of grants: a worker has the walls it was started in.
        """
        if handler.package is not None:
            return _WorkerOwner(f"{handler.origin.name}:{self.confinement.key(handler.package)}", handler.package)
        shared = handler.path and handler.origin in (Origin.PROJECT, Origin.USER)
        directory = os.path.dirname(handler.path) if shared else ""
        return _WorkerOwner(f"{handler.origin.name}:{directory or handler.owner}", directory=directory)

    def _reply(self, worker_reply: ConversationReply, timeout: float) -> Reply:
        stderr = worker_reply.stderr.decode("utf-8", "replace")
        if worker_reply.ended == "timed_out":
            return timed_out(timeout, stderr)
        if worker_reply.ended == "too_much_output":
            return too_much_output(self._limit, stderr)
        if worker_reply.ended == "died":
            return Reply(Outcome.CRASHED, message=ending(worker_reply.returncode, stderr), stderr=stderr)
        try:
            decoded = _decode_reply(worker_reply.answer)
        except (RecursionError, UnicodeDecodeError, msgspec.MsgspecError):
            return Reply(Outcome.BAD_OUTPUT, message=_why_unreadable(worker_reply.answer), stderr=stderr)
        if too_deep(decoded.result, worker_reply.answer):  # the worker checks too, but a hook can tamper with it
            return Reply(Outcome.BAD_OUTPUT, message="JSON nested too deeply", stderr=stderr)
        if decoded.changed:
            return Reply(Outcome.REFUSED, message=decoded.changed, stderr=stderr, changed=True)
        if decoded.bad:
            return Reply(Outcome.BAD_OUTPUT, message=decoded.bad, stderr=stderr)
        if decoded.crash:
            return Reply(Outcome.CRASHED, message=decoded.crash, stderr=stderr)
        return Reply(Outcome.OK, decoded.result, stderr=stderr, size=len(worker_reply.answer))


def _why_unreadable(answer: bytes) -> str:
    try:
        decode(answer)
    except InvalidJson as error:
        return str(error)
    return "a result is an object with keys"


def _serve_forked(requests: int, answers: int) -> None:
    """What START does, in a fork of this process."""
    sys.path += SAMUEL, NEEDED
    serve(requests, answers)
