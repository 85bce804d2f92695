"""Programs that a module starts: within the walls that the plugin's own processes would have, without a network.

A module's network is a list of hosts, and nothing holds a process to hosts.
"""

from __future__ import annotations

import msgspec
from msgspec.structs import replace

from samuel.decoding import json_decoder
from samuel.hooks.capability import EXEC
from samuel.process import interpreter, spawn
from samuel.process.reason import NotRunnable
from samuel.process.walls.places import NotGranted
from samuel.runtimes.wasm.call import WasmCall
from samuel.runtimes.wasm.codes import LARGEST, BadArgument, Denied, Failed, TooLarge


class _Request(msgspec.Struct, forbid_unknown_fields=True):
    argv: list[str]
    stdin: str = ""
    timeout_ms: int | None = None


class _Ended(msgspec.Struct, omit_defaults=True):
    exit_code: int = msgspec.field(default_factory=int)
    stdout: str = msgspec.field(default_factory=str)
    stderr: str = msgspec.field(default_factory=str)
    timed_out: bool = False


_decode = json_decoder(_Request)
_encode = msgspec.json.Encoder().encode


def run(call: WasmCall, request: bytes) -> bytes:
    """How the program ended, as JSON."""
    try:
        asked = _decode(request)
    except (UnicodeDecodeError, RecursionError, msgspec.MsgspecError) as error:
        raise BadArgument(f"exec: {error}") from None
    if not asked.argv or not asked.argv[0]:
        raise BadArgument("exec: `argv` names no program")
    if not call.package.grants.exec:
        raise Denied(f"it tried to run `{asked.argv[0]}`, and `{EXEC}` is not granted")
    finished = _walled(call, asked)
    if finished.ended == "not_started":
        raise Failed(f"exec: {finished.why}")
    if finished.ended == "too_much_output":
        raise TooLarge(f"exec: `{asked.argv[0]}` wrote more than {LARGEST} bytes")
    stdout, stderr = (said.decode("utf-8", "replace") for said in (finished.stdout, finished.stderr))
    return _encode(_Ended(finished.returncode, stdout, stderr, finished.ended == "timed_out"))


def _walled(call: WasmCall, asked: _Request) -> spawn.Finished:
    package = replace(call.package, grants=replace(call.package.grants, network=False))
    walls = call.confinement
    argv = [_program(asked.argv[0], walls.path), *asked.argv[1:]]
    timeout = call.remaining()
    if asked.timeout_ms is not None:
        timeout = min(timeout, asked.timeout_ms / 1000)
    try:
        with walls.walled(package, argv) as command:
            return spawn.run(
                command.argv,
                cwd=str(call.root),
                env=walls.environment(package),
                stdin=asked.stdin.encode(),
                timeout=max(timeout, 0.0),
                output_limit=LARGEST,
                pass_fds=command.pass_fds,
            )
    except NotGranted as error:
        raise Denied(str(error)) from None
    except (NotRunnable, ValueError) as error:  # the latter: a NUL in an argument
        raise Failed(f"exec: {error}") from None


def _program(name: str, path: str) -> str:
    found = name if "/" in name else interpreter.look_up(name, path)
    if not found:
        raise Failed(f"exec: `{name}` was not found on PATH ({path})")
    return found
