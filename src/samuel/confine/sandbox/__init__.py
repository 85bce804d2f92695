"""Where a program runs: on the host as it is, or where it cannot reach what is not the project's.

    with confined(["claude", "-p"], sandbox, place, env) as command:
        spawn.run(command.argv, cwd=..., env=command.env, pass_fds=command.pass_fds)

`missing` says before anything starts what the machine lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from samuel.base.errors import UsageError
from samuel.confine.sandbox import bwrap, oci
from samuel.confine.sandbox.request import Command, Private, SandboxRequest, Workspace
from samuel.confine.sandbox.spool import apply_spool

__all__ = [
    "BWRAP",
    "HOST",
    "KINDS",
    "Command",
    "Private",
    "SandboxRequest",
    "Workspace",
    "apply_spool",
    "confined",
    "missing",
]

HOST, BWRAP = "host", "bwrap"
_WALLS = {BWRAP: bwrap, "oci": oci}
KINDS = (HOST, *_WALLS)


@contextmanager
def confined(
    argv: Sequence[str], sandbox: SandboxRequest, place: Workspace, env: Mapping[str, str]
) -> Iterator[Command]:
    """The command that runs `argv` with `env` in the sandbox. When the context ends, nothing of it is left.

    Raises NotRunnable where the sandbox cannot be had: a program is never run with less than was asked for.
    """
    _check(sandbox)
    if sandbox.kind == HOST:
        yield Command(list(argv), dict(env))
        return
    with _WALLS[sandbox.kind].confined(argv, sandbox, place, env) as command:
        yield command


def missing(sandbox: SandboxRequest, place: Workspace) -> str:
    """What this machine lacks for the sandbox, and what would help; "" when it works. It is really tried."""
    _check(sandbox)
    return "" if sandbox.kind == HOST else _WALLS[sandbox.kind].missing(sandbox, place)


def _check(sandbox: SandboxRequest) -> None:
    if sandbox.kind not in KINDS:
        raise UsageError(f"`{sandbox.kind}` is not a sandbox", f"use one of {', '.join(KINDS)}")
