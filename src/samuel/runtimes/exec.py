"""Runs executables and scripts: JSON on stdin, JSON on stdout; their process tree ends with the call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import msgspec

from samuel.clients.hook_formats.dialects import DIALECTS
from samuel.clients.hook_formats.hook_format import HookFailed, HookOutput, InvalidAnswer
from samuel.clients.table import HOOK_FORMATS
from samuel.events import AgentInvoke, Event
from samuel.events.catalogue import BY_PAYLOAD
from samuel.files.json import InvalidJson
from samuel.hooks.handler import Handler, Outcome, Package
from samuel.process import interpreter, spawn
from samuel.process.compiled_python import keep_uncompiled
from samuel.process.output import ending
from samuel.process.reason import NotGranted, NotRunnable
from samuel.runtimes.base import Reply, Setting, timed_out, too_much_output
from samuel.runtimes.client_calls import call_client_hook
from samuel.runtimes.opened_program import OpenedProgram, ProgramSearch, opened_program
from samuel.runtimes.results import decode
from samuel.trust.content import NO_CONTENT, ContentChanged, TrustedContent

if TYPE_CHECKING:
    from samuel.runtimes.confined import Confinement

NO_MANIFEST = "it has no manifest, so it may use only its own files and what `samuel plugin add --grant` gave it"

_encode = msgspec.json.Encoder().encode
RUN_VARIABLES = (
    *("SAMUEL_RUN_ID", "SAMUEL_SESSION_ID", "SAMUEL_ITERATION", "SAMUEL_MODE", "SAMUEL_TASK_ID", "SAMUEL_ATTEMPT"),
    *("SAMUEL_STEP", "SAMUEL_RECIPE", "SAMUEL_MAX_NEW_TASKS", "SAMUEL_METHODOLOGY"),
)


class ExecRuntime:
    """Calls handlers that are programs."""

    def __init__(self, setting: Setting) -> None:
        self._setting = setting
        self._clock = setting.clock
        self._root = str(setting.root)
        self._environment = setting.environment
        self._pycache = str(setting.cache / "pycache")
        self._limit = setting.limits.handler_output_bytes

    @cached_property
    def _confinement(self) -> Confinement:
        return self._setting.confinement()

    def call(self, handler: Handler, event: Event, timeout: float, content: TrustedContent = NO_CONTENT) -> Reply:
        call = partial(self._call, content)
        if handler.client_event:
            return call_client_hook(call, self._clock.monotonic, handler, event, timeout)
        return call(handler, event, timeout)

    def _call(self, content: TrustedContent, handler: Handler, event: Event, timeout: float) -> Reply:
        try:
            if handler.package is None:
                finished = self._run(handler, event, timeout, content)
            else:
                finished = self._walled(handler, handler.package, event, timeout, content)
        except ContentChanged as error:
            return Reply(Outcome.REFUSED, message=str(error), changed=True)
        except NotGranted as error:
            return Reply(Outcome.REFUSED, message=str(error))
        except NotRunnable as error:
            return Reply(Outcome.NOT_STARTED, message=str(error))
        return self._reply(handler, event, finished, timeout)

    def _run(self, handler: Handler, event: Event, timeout: float, content: TrustedContent) -> spawn.Finished:
        for directory in self._script_directories(handler):
            keep_uncompiled(directory, self._pycache)
        env = self._variables(self._environment, handler, event, timeout)
        stdin = _encoded_payload(handler, event)
        search = ProgramSearch(self._environment["PATH"], self._pycache, self._setting.cache)
        with opened_program(_program(handler, search.path), _arguments(handler), search, content) as program:
            return self._spawn(program, env, stdin, timeout)

    def _walled(
        self, handler: Handler, package: Package, event: Event, timeout: float, content: TrustedContent
    ) -> spawn.Finished:
        walls = self._confinement
        search = ProgramSearch(walls.path, walls.pycache(package), self._setting.cache)
        program, arguments = _program(handler, search.path), _arguments(handler)
        with opened_program(program, arguments, search, content, by_name=True) as (argv, _, _):
            keep_uncompiled(package.directory, search.pycache)
            env = self._variables(walls.environment(package, argv[0]), handler, event, timeout)
            stdin = _encoded_payload(handler, event)
            with walls.walled(package, argv) as command:
                return self._spawn(OpenedProgram([*command.argv], None, (*command.pass_fds,)), env, stdin, timeout)

    def _script_directories(self, handler: Handler) -> set[str]:
        """The directories of what the handler runs. The project's root is none: it has everything else, too."""
        programs = handler.runs if handler.file else (handler.path,)
        return {os.path.dirname(program) for program in programs if os.path.isabs(program)} - {self._root}

    def _spawn(
        self, program: OpenedProgram, env: Mapping[str, str], stdin: bytes, timeout: float
    ) -> spawn.Finished:
        return spawn.run(
            program.argv,
            cwd=self._root,
            env=env,
            stdin=stdin,
            timeout=timeout,
            output_limit=self._limit,
            pass_fds=program.pass_fds,
            executable=program.executable,
        )

    def _variables(self, env: Mapping[str, str], handler: Handler, event: Event, timeout: float) -> dict[str, str]:
        deadline = self._clock.now() + timeout
        own = handler.env
        if handler.client_event:  # what an agent sets for its hooks, for a hook that was written for it
            own = {HOOK_FORMATS[handler.dialect].project_variable: self._root, **own}
        return {**env, **own, **call_variables(event, deadline)}

    def close(self) -> None:
        """Nothing to end: a call ends all of its processes."""

    def _reply(self, handler: Handler, event: Event, finished: spawn.Finished, timeout: float) -> Reply:
        stderr = finished.stderr.decode("utf-8", "replace")
        if finished.ended == "not_started":
            return Reply(Outcome.NOT_STARTED, message=finished.why)
        if finished.ended == "too_much_output":
            return too_much_output(self._limit, stderr)
        late = finished.ended == "timed_out"
        if handler.client_event:
            return timed_out(timeout, stderr) if late else _client_reply(handler, event, finished, stderr)
        result, wrong = _decoded_result(handler, event, finished.stdout)
        if late:
            return timed_out(timeout, stderr, result)
        if finished.returncode != 0:
            how = _crash(handler, finished.returncode, stderr)
            return Reply(Outcome.CRASHED, result, message=how, stderr=stderr)
        if wrong:
            return Reply(Outcome.BAD_OUTPUT, message=wrong, stderr=stderr)
        return Reply(Outcome.OK, result, stderr=stderr, size=len(finished.stdout))


def _program(handler: Handler, path: str) -> str:
    program = handler.path if os.path.isabs(handler.path) else interpreter.look_up(handler.path, path)
    if not program:
        raise NotRunnable(f"`{handler.path}` was not found on PATH ({path})")
    return program


def _arguments(handler: Handler) -> tuple[str, ...]:
    return (handler.entry,) if handler.entry else handler.arguments


def call_variables(event: Event, deadline: float) -> dict[str, str]:
    """The environment variables that describe the call; if the handler is the agent, also its run and task."""
    of_run = event.env if isinstance(event, AgentInvoke) else {}
    return {
        "SAMUEL_DEADLINE": f"{deadline:.3f}",
        "SAMUEL_EVENT": BY_PAYLOAD[type(event)].name,
        "SAMUEL_EVENT_ID": event.event_id,
        "SAMUEL_PROJECT_ROOT": event.project_root,
        **{name: of_run[name] for name in RUN_VARIABLES if name in of_run},
    }


def _crash(handler: Handler, returncode: int, stderr: str) -> str:
    """How a process ended, with a hint if the walls of a plugin without a manifest may be the reason."""
    how = ending(returncode, stderr)
    if handler.package is None or handler.package.has_manifest:
        return how
    return f"{how}; {NO_MANIFEST}"


def _client_reply(handler: Handler, event: Event, finished: spawn.Finished, stderr: str) -> Reply:
    """The reply of a hook that was written for an agent: its exit code is part of its answer."""
    output = HookOutput(finished.returncode, finished.stdout.decode("utf-8", "replace"), stderr)
    try:
        result = HOOK_FORMATS[handler.dialect].translate_output(
            handler.client_event, msgspec.to_builtins(event), output
        )
    except HookFailed:
        # The shell could not start the hook: it never saw the event.
        outcome = Outcome.NOT_STARTED if finished.returncode in (126, 127) else Outcome.CRASHED
        return Reply(outcome, message=ending(finished.returncode, stderr), stderr=stderr)
    except InvalidAnswer as error:
        return Reply(Outcome.BAD_OUTPUT, message=str(error), stderr=stderr)
    return Reply(Outcome.OK, result, stderr=stderr, size=len(finished.stdout))


def _encoded_payload(handler: Handler, event: Event) -> bytes:
    if not handler.dialect:
        return _encode(event)
    if handler.client_event:
        translate_payload = HOOK_FORMATS[handler.dialect].translate_payload
        return _encode(translate_payload(handler.client_event, msgspec.to_builtins(event)))
    return _encode(DIALECTS[handler.dialect].translate_payload(msgspec.to_builtins(event)))


def _decoded_result(handler: Handler, event: Event, stdout: bytes) -> tuple[Mapping[str, Any], str]:
    """The result, and ""; or {}, and why the output is not a result."""
    try:
        result = decode(stdout)
    except InvalidJson as error:
        return {}, str(error)
    if handler.dialect:
        result = DIALECTS[handler.dialect].translate_result(BY_PAYLOAD[type(event)].name, result)
    return result, ""
