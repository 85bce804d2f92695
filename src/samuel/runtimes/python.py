"""Third-party Python hooks, each origin in warm worker processes of its own, so that a deadline can kill them.

A worker answers one call at a time. Two calls at once to the same origin take two workers; an idle one is kept
for the next. After a kill or a crash the next call starts a new one.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from samuel.events import Event
from samuel.events.catalogue import BY_PAYLOAD
from samuel.hooks.handler import Handler, Origin, Outcome
from samuel.process.conversation import Conversation, Said
from samuel.process.reason import NotRunnable
from samuel.runtimes.base import Reply
from samuel.runtimes.exec import ending
from samuel.runtimes.values import NotPlain, decode, too_deep
from samuel.runtimes.worker import Request

_encode = msgspec.json.Encoder().encode

# -P and the end of the path: neither the project's directory nor Samuel's may shadow anything.
START = "import sys; sys.path.append(sys.argv.pop(1)); from samuel.runtimes.worker import main; main()"


class _Answer(msgspec.Struct):
    result: dict[str, Any] = {}
    crash: str = ""
    bad: str = ""


_decode_answer = msgspec.json.Decoder(_Answer).decode


class Python:
    def __init__(self, root: Path, environment: Mapping[str, str], cache: Path, output_limit: int) -> None:
        self._root = str(root)
        self._environment = environment
        self._limit = output_limit
        self._command = [
            *(sys.executable, "-P", "-X", f"pycache_prefix={cache / 'pycache'}"),
            *("-c", START, str(Path(__file__).parents[2])),
        ]
        self._lock = threading.Lock()
        self._idle: dict[str, list[Conversation]] = {}

    def call(self, handler: Handler, event: Event, timeout: float) -> Reply:
        if handler.path and not os.path.exists(handler.path):  # also when a worker still has it loaded
            return Reply(Outcome.NOT_STARTED, message=f"`{handler.path}` does not exist")
        payload = msgspec.Raw(_encode(event))
        request = Request(handler.path or handler.module, handler.entry, BY_PAYLOAD[type(event)].name, payload)
        return self._ask(_worker_of(handler), request, timeout)

    def describe(self, target: str, worker: str, timeout: float) -> Reply:
        """Which handlers a file or a module declares: `result["declared"]`."""
        return self._ask(worker, Request(target), timeout)

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, {}
        for workers in idle.values():
            for worker in workers:
                worker.close()

    def _ask(self, origin: str, request: Request, timeout: float) -> Reply:
        try:
            worker = self._take(origin)
        except NotRunnable as error:
            return Reply(Outcome.NOT_STARTED, message=str(error))
        try:
            said = worker.ask(_encode(request) + b"\n", timeout=timeout, limit=self._limit)
        except BaseException:
            worker.close()
            raise
        if not worker.over:
            with self._lock:
                self._idle.setdefault(origin, []).append(worker)
        return self._reply(said, timeout)

    def _take(self, origin: str) -> Conversation:
        while True:
            with self._lock:
                idle = self._idle.get(origin)
                worker = idle.pop() if idle else None
            if worker is None:
                break
            if not worker.stale:
                return worker
            worker.close()
        return Conversation(self._command, cwd=self._root, env=self._environment)

    def _reply(self, said: Said, timeout: float) -> Reply:
        stderr = said.stderr.decode("utf-8", "replace")
        if said.ended == "timed_out":
            return Reply(Outcome.TIMED_OUT, message=f"killed after {timeout:g}s", stderr=stderr)
        if said.ended == "too_much_output":
            why = f"more than {self._limit} bytes of output; `handler_output_bytes` under [limits] sets the limit"
            return Reply(Outcome.BAD_OUTPUT, message=why, stderr=stderr)
        if said.ended == "died":
            return Reply(Outcome.CRASHED, message=ending(said.returncode, stderr), stderr=stderr)
        try:
            answer = _decode_answer(said.answer)
        except (RecursionError, UnicodeDecodeError, msgspec.MsgspecError):
            return self._unreadable(said, stderr)
        if too_deep(answer.result, said.answer):  # the worker looks too, but it is the hook's process
            return Reply(Outcome.BAD_OUTPUT, message="JSON nested too deeply", stderr=stderr)
        if answer.bad:
            return Reply(Outcome.BAD_OUTPUT, message=answer.bad, stderr=stderr)
        if answer.crash:
            return Reply(Outcome.CRASHED, message=answer.crash, stderr=stderr)
        return Reply(Outcome.OK, answer.result, stderr=stderr, size=len(said.answer))

    @staticmethod
    def _unreadable(said: Said, stderr: str) -> Reply:
        try:
            decode(said.answer)
            why = "a result is an object with keys"
        except NotPlain as error:
            why = str(error)
        return Reply(Outcome.BAD_OUTPUT, message=why, stderr=stderr)


def _worker_of(handler: Handler) -> str:
    """The files of one directory share a worker; a plugin or a distribution has its own.

    Never two directories: a helper in one could be imported by a hook of the other, and whoever permits a hook
    looks only at what lies beside it.
    """
    shared = handler.origin in (Origin.PROJECT, Origin.USER)
    return f"{handler.origin.name}:{os.path.dirname(handler.path) if shared else handler.owner}"
