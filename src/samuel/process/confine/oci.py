"""Podman or docker: the agent's programs come from an image; of this machine it sees the project only.

The project is mounted where it is on the host, so that every path means the same on both sides. Values of
variables never stand on a command line, which every user of the machine can read: the client inherits them, and
is told the names to pass on.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from samuel.process import environment, spawn
from samuel.process.confine import mounts, probe, spool
from samuel.process.confine.probe import Flags
from samuel.process.confine.sandbox import Command, Place, Sandbox, volumes
from samuel.process.reason import NotRunnable

CHOICE = "SAMUEL_CONTAINER"
PROGRAMS = ("podman", "docker")

_CLIENT = (
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    *("CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF"),
    *("REGISTRY_AUTH_FILE", "DBUS_SESSION_BUS_ADDRESS"),
)
# These mean this machine, or would act on the client instead of the agent: the image has its own.
_OURS = frozenset(
    ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG", *_CLIENT)
)
_OURS_PREFIXES = ("LD_", "DYLD_", "XDG_", "DOCKER_", "CONTAINER", "_CONTAINERS_", "BUILDAH_", "STORAGE_")

_SAFER = (
    *("--security-opt=no-new-privileges", "--security-opt=label=disable", "--cap-drop=all"),
    *("--cap-add=DAC_OVERRIDE", "--cap-add=CHOWN", "--cap-add=FOWNER"),
)
_TRIAL = 60.0


@contextmanager
def confined(argv: Sequence[str], sandbox: Sandbox, place: Place, env: Mapping[str, str]) -> Iterator[Command]:
    program = _program(place)
    if program is None:
        raise NotRunnable(missing(sandbox, place))
    flags = probe.known(program, sandbox.network, place.cache) or _find_flags(program, sandbox, place)
    if isinstance(flags, str):
        raise NotRunnable(f"`{program}` cannot start a container: {flags}")
    shim = spool.prepare(place.state)
    root = os.path.realpath(place.root)
    # The same name each time: what a killed Samuel left running ends before another agent works in its place.
    name = f"samuel-{hashlib.sha256(root.encode()).hexdigest()[:16]}"
    inside = {key: value for key, value in env.items() if not _is_ours(key)}
    client = _client(place)
    with mounts.hold(place.root, place.state) as held:
        words = [*_run(program, flags), "--interactive", f"--name={name}", f"--workdir={root}"]
        words += (f"--env={key}" for key in inside)
        words += (_volume(path, path, writable) for path, writable in held)
        words += (_volume(*volume) for volume in volumes(sandbox, place))
        # The image's own PATH, whatever it is, with the script that stands in for Samuel first.
        words += (*_image(sandbox), 'PATH="$0:$PATH" exec "$@"', str(shim), *argv)
        _remove(program, name, client)
        try:
            yield Command(words, {**client, **inside})
        finally:
            _remove(program, name, client)


def missing(sandbox: Sandbox, place: Place) -> str:
    program = _program(place)
    if program is None:
        chosen = place.host.get(CHOICE)
        needed = f"`{chosen}` ({CHOICE} says so)" if chosen else "`podman` or `docker`"
        return f"the sandbox `oci` needs {needed} (apt install podman, dnf install podman)"
    if not sandbox.image:
        return 'the sandbox `oci` needs an image: sandbox = { kind = "oci", image = "..." }'
    known = _say(program, _client(place), "image", "inspect", "--format=-", sandbox.image)
    if known.returncode != 0 or known.ended != "exited":
        said = known.stderr.decode("utf-8", "replace").strip()
        name = os.path.basename(program)
        return f"`{name}` does not have the image `{sandbox.image}`: {said}; `{name} pull {sandbox.image}` gets it"
    flags = _find_flags(program, sandbox, place)
    return f"`{program}` cannot start a container of `{sandbox.image}`: {flags}" if isinstance(flags, str) else ""


def _find_flags(program: str, sandbox: Sandbox, place: Place) -> Flags | str:
    env = _client(place)

    def attempt(flags: Flags) -> spawn.Finished:
        return spawn.run([*_run(program, flags), *_image(sandbox), ":"], cwd="/", env=env, timeout=_TRIAL)

    return probe.find(program, sandbox.network, place.cache, attempt)


def _run(program: str, flags: Flags) -> list[str]:
    # Unattended, nothing is downloaded: `missing` said beforehand what to pull.
    words = [program, *flags.before, "run", "--rm", "--pull=never", "--stop-timeout=0", *flags.after, *_SAFER]
    if os.geteuid() != 0:  # files in the project stay the user's
        podman = os.path.basename(program) == "podman"
        words += ("--userns=keep-id",) if podman else (f"--user={os.geteuid()}:{os.getegid()}",)
        words.append("--env=HOME=/tmp")
    return words


def _image(sandbox: Sandbox) -> tuple[str, ...]:
    return ("--entrypoint=/bin/sh", sandbox.image or "", "-c")


def _volume(source: str, target: str, writable: bool) -> str:
    for path in (source, target):
        if ":" in path:
            raise NotRunnable(f"`{path}` has a `:`, which containers take for the end of a path")
    return f"--volume={source}:{target}:{'rw' if writable else 'ro'}"


def _remove(program: str, name: str, env: Mapping[str, str]) -> None:
    _say(program, env, "rm", "--force", name)


def _say(program: str, env: Mapping[str, str], *words: str) -> spawn.Finished:
    return spawn.run([program, *words], cwd="/", env=env, timeout=_TRIAL)


def _client(place: Place) -> dict[str, str]:
    return environment.clean(base=place.host, pass_names=_CLIENT)


def _is_ours(name: str) -> bool:
    return name in _OURS or name.startswith(_OURS_PREFIXES)


def _program(place: Place) -> str | None:
    path = place.host.get("PATH") or environment.DEFAULT_PATH
    chosen = place.host.get(CHOICE)
    found = (shutil.which(name, path=path) for name in ((chosen,) if chosen else PROGRAMS))
    return next((program for program in found if program), None)
