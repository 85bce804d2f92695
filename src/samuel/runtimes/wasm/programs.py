"""The host function `exec`: programs run within the walls of the plugin's processes, without a network.

A module is granted a list of hosts, to which the connections of a process cannot be restricted.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from samuel.base.decoding import json_decoder
from samuel.hooks.capability import EXEC
from samuel.process import interpreter, spawn
from samuel.process.reason import NotGranted, NotRunnable
from samuel.runtimes.wasm.call import WasmCall
from samuel.runtimes.wasm.codes import LARGEST, BadArgument, Denied, Failed, TooLarge


class _ProgramRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What the module asks for."""

    argv: list[str]
    stdin: str = ""
    timeout_ms: int | None = None


class _ProgramResult(msgspec.Struct, omit_defaults=True):
    """What the module gets."""

    exit_code: int = msgspec.field(default_factory=int)
    stdout: str = msgspec.field(default_factory=str)
    stderr: str = msgspec.field(default_factory=str)
    timed_out: bool = False


_decode = json_decoder(_ProgramRequest)
_encode = msgspec.json.Encoder().encode


def run(call: WasmCall, request: bytes) -> bytes:
    """How the program ended, as JSON."""
    try:
        program = _decode(request)
    except (UnicodeDecodeError, RecursionError, msgspec.MsgspecError) as error:
        raise BadArgument(f"exec: {error}") from None
    if not program.argv or not program.argv[0]:
        raise BadArgument("exec: `argv` names no program")
    if not call.package.grants.exec:
        raise Denied(f"it tried to run `{program.argv[0]}`, and `{EXEC}` is not granted")
    finished = _walled(call, program)
    if finished.ended == "not_started":
        raise Failed(f"exec: {finished.why}")
    if finished.ended == "too_much_output":
        raise TooLarge(f"exec: `{program.argv[0]}` wrote more than {LARGEST} bytes")
    stdout, stderr = (output.decode("utf-8", "replace") for output in (finished.stdout, finished.stderr))
    return _encode(_ProgramResult(finished.returncode, stdout, stderr, finished.ended == "timed_out"))


def _walled(call: WasmCall, program: _ProgramRequest) -> spawn.Finished:
    package = replace(call.package, grants=replace(call.package.grants, network=False))
    walls = call.confinement
    argv = [_program(program.argv[0], walls.path), *program.argv[1:]]
    timeout = call.remaining()
    if program.timeout_ms is not None:
        timeout = min(timeout, program.timeout_ms / 1000)
    try:
        with walls.walled(package, argv) as command:
            return spawn.run(
                command.argv,
                cwd=str(call.root),
                env=walls.environment(package),
                stdin=program.stdin.encode(),
                timeout=max(timeout, 0.0),
                output_limit=LARGEST,
                pass_fds=command.pass_fds,
            )
    except NotGranted as error:
        raise Denied(str(error)) from None
    except (NotRunnable, ValueError) as error:  # the latter: a NUL in an argument
        raise Failed(f"exec: {error}") from None


def _program(name: str, path: str) -> str:
    program = name if "/" in name else interpreter.look_up(name, path)
    if not program:
        raise Failed(f"exec: `{name}` was not found on PATH ({path})")
    return program
