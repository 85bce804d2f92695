"""Runs plugins that are images: a subcommand of the image's entrypoint, JSON on stdin, JSON on stdout.

A container sees what its plugin was granted, and nothing else of this machine: the project or parts of it, to read
or to write, at the same path as outside; the plugin's own directory, to read; its data_dir, to write. No network
without the grant. It gets the granted variables of the host, and the PATH of the image.

With `serve` a container is kept for later calls. It is started with the single argument `serve`, reads
a line for each call and replies to each with one line:

    {"hook": "<subcommand>", "payload": {...}}
    {"result": {...}}  or  {"error": "what went wrong"}

Calls that come while others run may take further containers. After a timeout, a crash or
an invalid reply the container is removed, and the next call starts a new one. It is also removed when a granted
path was replaced, because the container would still see the old file.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import msgspec

from samuel.base.decoding import json_decoder
from samuel.base.paths import Project
from samuel.confine.containers import engine as engines
from samuel.confine.containers.container import ContainerSpec, Launch, launched, sweep
from samuel.confine.containers.engine import Engine
from samuel.confine.walls.places import OpenedPath, WallPlaces, opened
from samuel.events import Event
from samuel.files.json import InvalidJson, excerpt, too_deep
from samuel.hooks.handler import Handler, Outcome, Package
from samuel.process import environment, spawn
from samuel.process.conversation import Conversation, ConversationReply
from samuel.process.output import ending, last_line
from samuel.process.reason import NotGranted, NotRunnable
from samuel.runtimes.base import Reply, Setting, timed_out, too_much_output
from samuel.runtimes.confined import grants
from samuel.runtimes.exec import call_variables
from samuel.runtimes.results import decode
from samuel.runtimes.warm_pool import MOST, AllBusy, WarmPool
from samuel.trust.content import NO_CONTENT, TrustedContent

SERVE = "serve"

_NO_IMAGE = ("image not known", "no such image")  # podman, docker

_encode = msgspec.json.Encoder().encode


class ContainerRequest(msgspec.Struct):
    """A line that a serving container reads."""

    hook: str
    payload: msgspec.Raw


class _ContainerReply(msgspec.Struct, forbid_unknown_fields=True):
    """A line that a serving container writes."""

    result: dict[str, Any] | None = None
    error: str | None = None


_decode_answer = json_decoder(_ContainerReply)


class _WarmContainer:
    """A serving container, and the paths that it saw when it was started."""

    def __init__(
        self,
        conversation: Conversation,
        launch: Launch,
        places: Mapping[str, tuple[int, int] | None],
        held: ExitStack,
    ) -> None:
        self.conversation = conversation
        self.launch = launch
        self._places = places
        self._held = held
        self._fresh = launch.direct  # its first line is not a reply to a request

    def is_usable(self) -> bool:
        """True if it still runs, and if no path was replaced since it was mounted."""
        return not self.conversation.stale and all(_place(path) == was for path, was in self._places.items())

    def ask(self, line: bytes, until: float, limit: int) -> ConversationReply:
        if self._fresh:
            greeting = self.conversation.ask(b"", timeout=_left(until), limit=limit)
            if greeting.ended != "answered":
                return greeting
            self._fresh = False
        return self.conversation.ask(line, timeout=_left(until), limit=limit)

    def close(self) -> None:
        self.launch.remove()  # the quickest way to end its processes; the engine's client then ends too
        self.conversation.close()
        self._held.close()


class OciRuntime:
    """Calls handlers that are subcommands of an image."""

    def __init__(self, setting: Setting) -> None:
        self._project = Project(Path(os.path.realpath(setting.root)))
        self._root = str(self._project.root)
        self._host = setting.host
        self._cache = setting.cache
        self._limit = setting.limits.handler_output_bytes
        self._memory = setting.limits.handler_memory_bytes
        self._clock = setting.clock
        self._lock = threading.Lock()
        self._engine: tuple[Engine, tuple[str, ...]] | None = None
        self._containers: WarmPool[_WarmContainer] = WarmPool()

    def call(self, handler: Handler, event: Event, timeout: float, content: TrustedContent = NO_CONTENT) -> Reply:
        package = handler.package
        if package is None:
            return Reply(Outcome.NOT_STARTED, message="only a plugin can be an image")
        try:
            if package.serve:
                return self._ask(package, handler.entry, event, timeout)
            return self._run(package, handler.entry, event, timeout)
        except NotGranted as error:
            return Reply(Outcome.REFUSED, message=str(error))
        except NotRunnable as error:
            return Reply(Outcome.NOT_STARTED, message=str(error))

    def close(self) -> None:
        if containers := self._containers.close():
            with ThreadPoolExecutor(len(containers)) as threads:
                list(threads.map(_WarmContainer.close, containers))

    # One container per call

    def _run(self, package: Package, subcommand: str, event: Event, timeout: float) -> Reply:
        until = time.perf_counter() + timeout
        variables = call_variables(event, self._clock.now() + timeout)
        with ExitStack() as held:
            launch, _ = self._launch(package, (subcommand,), variables, held, timeout)
            finished = spawn.run(
                launch.argv,
                cwd="/",
                env=launch.env,
                stdin=_encode(event),
                timeout=_left(until),
                output_limit=self._limit,
                pass_fds=launch.pass_fds,
            )
            stderr = finished.stderr.decode("utf-8", "replace")
            if finished.ended == "not_started":
                return Reply(Outcome.NOT_STARTED, message=finished.why)
            if finished.ended == "timed_out":
                return timed_out(timeout, stderr)
            if finished.ended == "too_much_output":
                return too_much_output(self._limit, stderr)
            if finished.returncode != 0:
                return self._ended_badly(launch, package, finished.returncode, stderr)
        answer = launch.answer(finished.stdout)
        try:
            result = decode(answer)
        except InvalidJson as error:
            return Reply(Outcome.BAD_OUTPUT, message=str(error), stderr=stderr)
        return Reply(Outcome.OK, result, stderr=stderr, size=len(answer))

    # Serving containers

    def _ask(self, package: Package, subcommand: str, event: Event, timeout: float) -> Reply:
        until = time.perf_counter() + timeout
        line = _encode(ContainerRequest(subcommand, msgspec.Raw(_encode(event)))) + b"\n"
        try:
            container = self._containers.take(package, lambda: self._start(package, timeout), timeout)
        except AllBusy:
            why = f"{MOST} calls of its containers were under way, and none ended within {timeout:g}s"
            return Reply(Outcome.NOT_STARTED, message=why)
        keep = False
        try:
            container_reply = container.ask(line, until, self._limit)
            reply = self._reply(container.launch, package, container_reply, timeout)
            keep = not container.conversation.over and reply.outcome is not Outcome.BAD_OUTPUT
        finally:
            if keep:
                self._containers.give_back(package, container)
            else:
                self._containers.discard(package, container)
        return reply

    def _start(self, package: Package, timeout: float) -> _WarmContainer:
        with ExitStack() as held:
            variables = {"SAMUEL_PROJECT_ROOT": self._root}
            launch, doors = self._launch(package, (SERVE,), variables, held, timeout)
            own = os.path.realpath(package.directory)
            places: dict[str, tuple[int, int] | None] = {
                door.path: _identity(os.fstat(door.fd))
                for door in doors
                if door.path != own  # the permit checks the plugin's directory before every call
            }
            for granted in (*package.grants.read, *package.grants.write):  # a missing path may be created later
                path = os.path.normpath(os.path.join(self._root, granted))
                places.setdefault(path, _place(path))
            conversation = Conversation(
                launch.argv, cwd="/", env=launch.env, pass_fds=launch.pass_fds, over_stdio=True
            )
            return _WarmContainer(conversation, launch, places, held.pop_all())

    def _reply(self, launch: Launch, package: Package, reply: ConversationReply, timeout: float) -> Reply:
        stderr = reply.stderr.decode("utf-8", "replace")
        if reply.ended == "timed_out":
            return timed_out(timeout, stderr)
        if reply.ended == "too_much_output":
            return too_much_output(self._limit, stderr)
        if reply.ended == "died":
            return self._ended_badly(launch, package, reply.returncode, stderr)
        try:
            answer = _decode_answer(reply.answer) if reply.answer.strip() else _ContainerReply()
        except RecursionError:
            return Reply(Outcome.BAD_OUTPUT, message="JSON nested too deeply", stderr=stderr)
        except (UnicodeDecodeError, msgspec.MsgspecError) as error:
            why = f'not a line like {{"result": {{...}}}}: {error}; it wrote {excerpt(reply.answer)}'
            return Reply(Outcome.BAD_OUTPUT, message=why, stderr=stderr)
        if answer.error is not None:
            return Reply(Outcome.CRASHED, message=last_line(answer.error, "no message"), stderr=stderr)
        if too_deep(answer.result, reply.answer):
            return Reply(Outcome.BAD_OUTPUT, message="JSON nested too deeply", stderr=stderr)
        return Reply(Outcome.OK, answer.result or {}, stderr=stderr, size=len(reply.answer))

    # Both kinds of calls

    def _launch(
        self,
        package: Package,
        arguments: Sequence[str],
        variables: Mapping[str, str],
        held: ExitStack,
        timeout: float,
    ) -> tuple[Launch, list[OpenedPath]]:
        """What starts the container, and the paths it sees; both are valid while `held` is. Raises NotRunnable."""
        if not engines.is_pinned(package.image):
            why = f"the image `{package.image}` is not pinned by a digest, so it may be another image now"
            raise NotRunnable(f"{why}; `samuel plugin install` pins it")
        allowed = grants(package)
        with self._lock:  # the engine is probed only once, also if several calls come at the same time
            engine, user = self._found_engine(timeout)
            flags = engines.limited_flags(engine, network=allowed.network, cache=self._cache, image=package.image)
        data = str(self._project.data_dir(package.name))
        doors = held.enter_context(opened(allowed, WallPlaces(self._root, package.directory, data)))
        env = {name: self._host[name] for name in package.grants.env if name in self._host and _may_enter(name)}
        arguments = tuple(word for word in arguments if word)
        spec = ContainerSpec(package.image, arguments, self._root, user, self._memory, {**env, **variables})
        return held.enter_context(launched(engine, flags, spec, doors)), doors

    def _found_engine(self, timeout: float) -> tuple[Engine, tuple[str, ...]]:
        if self._engine is None:
            engine = engines.needed(self._host)
            sweep(engine, self._root, timeout)
            self._engine = engine, engine.as_the_user()
        return self._engine

    def _ended_badly(self, launch: Launch, package: Package, returncode: int, stderr: str) -> Reply:
        what, why = launch.trouble(returncode, last_line(stderr, ""))
        if what == "refused":
            return Reply(Outcome.REFUSED, message=why)
        if what:
            why = f"a container of `{package.image}` cannot be started: {why}"
            if any(words in why.lower() for words in _NO_IMAGE):
                why += "; `samuel plugin install` gets the image"
            return Reply(Outcome.NOT_STARTED, message=why, stderr=stderr)
        return Reply(Outcome.CRASHED, message=ending(returncode, stderr), stderr=stderr)


def _left(until: float) -> float:
    return max(until - time.perf_counter(), 0.0)


def _may_enter(name: str) -> bool:
    return name not in environment.WITHHELD and not engines.is_ours(name)


def _place(path: str) -> tuple[int, int] | None:
    try:
        return _identity(os.lstat(path))
    except OSError:
        return None


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
