"""Executables and scripts: JSON on stdin, JSON on stdout, in a process tree that ends with the call."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from pathlib import Path

import msgspec

from samuel.clock import Clock
from samuel.dialects import DIALECTS
from samuel.events import Event
from samuel.events.catalogue import BY_PAYLOAD
from samuel.hooks.handler import Handler, Outcome
from samuel.process import interpreter, spawn
from samuel.process.reason import NotRunnable
from samuel.runtimes.base import Reply, first_line
from samuel.runtimes.values import NotPlain, decode

_encode = msgspec.json.Encoder().encode


class Exec:
    def __init__(
        self, root: Path, environment: Mapping[str, str], cache: Path, output_limit: int, clock: Clock
    ) -> None:
        self._clock = clock
        self._root = str(root)
        self._environment = environment
        self._cache = cache
        self._pycache = str(cache / "pycache")
        self._limit = output_limit

    def call(self, handler: Handler, event: Event, timeout: float) -> Reply:
        try:
            argv = interpreter.command(
                handler.path,
                *((handler.entry,) if handler.entry else ()),
                path=self._environment["PATH"],
                pycache=self._pycache,
                cache_dir=self._cache,
            )
        except NotRunnable as error:
            return Reply(Outcome.NOT_STARTED, message=str(error))
        finished = spawn.run(
            argv,
            cwd=self._root,
            env={**self._environment, **call_variables(event, self._clock.now() + timeout)},
            stdin=_spoken(handler, event),
            timeout=timeout,
            output_limit=self._limit,
        )
        return self._reply(handler, event, finished, timeout)

    def close(self) -> None:
        pass

    def _reply(self, handler: Handler, event: Event, finished: spawn.Finished, timeout: float) -> Reply:
        stderr = finished.stderr.decode("utf-8", "replace")
        if finished.ended == "not_started":
            return Reply(Outcome.NOT_STARTED, message=finished.why)
        if finished.ended == "timed_out":
            return Reply(Outcome.TIMED_OUT, message=f"killed after {timeout:g}s", stderr=stderr)
        if finished.ended == "too_much_output":
            why = f"more than {self._limit} bytes of output; `handler_output_bytes` under [limits] sets the limit"
            return Reply(Outcome.BAD_OUTPUT, message=why, stderr=stderr)
        if finished.returncode != 0:
            return Reply(Outcome.CRASHED, message=ending(finished.returncode, stderr), stderr=stderr)
        try:
            result = decode(finished.stdout)
        except NotPlain as error:
            return Reply(Outcome.BAD_OUTPUT, message=str(error), stderr=stderr)
        if handler.dialect:
            result = DIALECTS[handler.dialect].from_theirs(BY_PAYLOAD[type(event)].name, result)
        return Reply(Outcome.OK, result, stderr=stderr, size=len(finished.stdout))


def call_variables(event: Event, deadline: float) -> dict[str, str]:
    """What a process can know of the call without reading its input."""
    return {
        "SAMUEL_DEADLINE": f"{deadline:.3f}",
        "SAMUEL_EVENT": BY_PAYLOAD[type(event)].name,
        "SAMUEL_EVENT_ID": event.event_id,
        "SAMUEL_PROJECT_ROOT": event.project_root,
    }


def ending(returncode: int, stderr: str) -> str:
    """`exit code 1: what it said last`, or the name of the signal."""
    if returncode >= 0:
        how = f"exit code {returncode}"
    else:
        try:
            how = f"killed by {signal.Signals(-returncode).name}"
        except ValueError:
            how = f"killed by signal {-returncode}"
    said = first_line(stderr, "")
    return f"{how}: {said}" if said else how


def _spoken(handler: Handler, event: Event) -> bytes:
    if not handler.dialect:
        return _encode(event)
    return _encode(DIALECTS[handler.dialect].to_theirs(msgspec.to_builtins(event)))
