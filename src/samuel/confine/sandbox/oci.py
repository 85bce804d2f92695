"""Podman or docker: the agent's programs come from an image; of this machine it sees the project only.

The project is mounted where it is on the host, so that every path means the same on both sides.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from samuel.confine.containers import engine, probe
from samuel.confine.containers.engine import Engine
from samuel.confine.containers.probe import Flags
from samuel.confine.sandbox import mounts, spool
from samuel.confine.sandbox.request import Command, SandboxRequest, Workspace, volumes
from samuel.process import spawn
from samuel.process.output import failure
from samuel.process.reason import NotRunnable

_CAPABILITIES = ("--cap-add=DAC_OVERRIDE", "--cap-add=CHOWN", "--cap-add=FOWNER")


@contextmanager
def confined(
    argv: Sequence[str], sandbox: SandboxRequest, place: Workspace, env: Mapping[str, str]
) -> Iterator[Command]:
    client = engine.find(place.host)
    if client is None:
        raise NotRunnable(missing(sandbox, place))
    flags = probe.remembered_flags(client.program, sandbox.network, place.cache) or _find_flags(
        client, sandbox, place
    )
    if isinstance(flags, str):
        raise NotRunnable(f"`{client.program}` cannot start a container: {flags}")
    shim = spool.prepare(place.state)
    root = os.path.realpath(place.root)
    # The same name each time: what a killed Samuel left running ends before another agent works in its place.
    name = f"samuel-{hashlib.sha256(root.encode()).hexdigest()[:16]}"
    inside = {key: value for key, value in env.items() if not engine.is_ours(key)}
    with mounts.hold(place) as held:
        words = [client.program, *_run(client, flags), "--interactive", f"--name={name}", f"--workdir={root}"]
        words += (f"--env={key}" for key in inside)
        words += (engine.volume(path, path, "ro") for path in place.readable)
        words += (engine.volume(path, path, _mode(writable)) for path, writable in held)
        words += (engine.volume(source, to, _mode(writable)) for source, to, writable in volumes(sandbox, place))
        # The image's own PATH, whatever it is, with the script that stands in for Samuel first.
        words += (*_image(sandbox), 'PATH="$0:$PATH" exec "$@"', str(shim), *argv)
        client.remove(name)
        try:
            yield Command(words, {**client.env, **inside})
        finally:
            client.remove(name)


def missing(sandbox: SandboxRequest, place: Workspace) -> str:
    client = engine.find(place.host)
    if client is None:
        return f"the sandbox `oci` needs {engine.missing_engine(place.host)}"
    if not sandbox.image:
        return 'the sandbox `oci` needs an image: sandbox = { kind = "oci", image = "..." }'
    if reason := failure(client.say("image", "inspect", "--format=-", sandbox.image)):
        why = f"`{client.name}` does not have the image `{sandbox.image}`: {reason}"
        return f"{why}; `{client.name} pull {sandbox.image}` gets it"
    flags = _find_flags(client, sandbox, place)
    if isinstance(flags, str):
        return f"`{client.program}` cannot start a container of `{sandbox.image}`: {flags}"
    return ""


def _find_flags(client: Engine, sandbox: SandboxRequest, place: Workspace) -> Flags | str:
    def attempt(flags: Flags) -> spawn.Finished:
        return client.say(*_run(client, flags), *_image(sandbox), ":")

    return probe.find(client.program, sandbox.network, place.cache, attempt)


def _run(client: Engine, flags: Flags) -> list[str]:
    # Unattended, nothing is downloaded: `missing` said beforehand what to pull.
    plain = ("run", "--rm", "--pull=never", "--stop-timeout=0")
    words = [*flags.before, *plain, *flags.after, *engine.SAFER, *_CAPABILITIES]
    if os.geteuid() != 0:  # files in the project stay the user's
        words += (*client.as_the_user(), "--env=HOME=/tmp")
    return words


def _image(sandbox: SandboxRequest) -> tuple[str, ...]:
    return ("--entrypoint=/bin/sh", sandbox.image or "", "-c")


def _mode(writable: bool) -> str:
    return "rw" if writable else "ro"
