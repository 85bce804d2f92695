"""Podman or docker: which one, how it is called, what it needs on this machine, and the images it has.

Everything that uses containers goes through here: the agent's sandbox and the plugins that are images. Values of
variables never stand on a command line, which every user of the machine can read: the client inherits them, and
is told the names to pass on.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from samuel.base.decoding import decode_json
from samuel.confine.containers import probe
from samuel.confine.containers.probe import Flags
from samuel.process import environment, interpreter, spawn
from samuel.process.output import failure
from samuel.process.reason import NotRunnable

CHOICE = "SAMUEL_CONTAINER"
PROGRAMS = ("podman", "docker")
INSTALL = "apt install podman, dnf install podman"
PIDS = 256  # processes of one plugin's container

SAFER = ("--security-opt=no-new-privileges", "--security-opt=label=disable", "--cap-drop=all")

CLIENT_VARIABLES = (
    *("DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH", "DOCKER_TLS_VERIFY"),
    *("CONTAINER_HOST", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "CONTAINERS_REGISTRIES_CONF"),
    *("REGISTRY_AUTH_FILE", "DBUS_SESSION_BUS_ADDRESS"),
)
# These mean this machine, or would act on the client instead of what is inside: the image has its own.
_HOST_ONLY = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "SSL_CERT_FILE", "SSL_CERT_DIR", "GODEBUG")
_OURS = frozenset((*_HOST_ONLY, *CLIENT_VARIABLES))
_OURS_PREFIXES = ("LD_", "DYLD_", "XDG_", "DOCKER_", "CONTAINER", "_CONTAINERS_", "BUILDAH_", "STORAGE_")

_LAUNCHER = (sys.executable, "-I", "-S", str(Path(__file__).with_name("launch.py")))

_REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,400}")
_PINNED = re.compile(r"([A-Za-z0-9][A-Za-z0-9._/:-]{0,300}@)?sha256:[0-9a-f]{64}")

_PATIENCE = 60.0
_DOWNLOAD = 1800.0
_TRIAL_MEMORY = 64 * 1024 * 1024

_REASONS = {  # by the beginning of the word for a concession
    "--runtime=": "containers need `{}`: the runtime it takes by itself refuses this machine, {} works",
    "--cgroup-manager=": "containers need `{}`: there is no systemd to ask for control groups",
    "--ulimit=": "containers need `{}`: this user may not raise limits (CAP_SYS_RESOURCE)",
    "--network=host": "containers with network need `{}`: no network of their own can be built",
}

# No image has it. An engine that says 127 has made the container, with all that was asked, and then not found it.
_NOTHING = "/samuel-starts-nothing"
_NOT_FOUND = 127


class Engine(NamedTuple):
    program: str
    env: dict[str, str]
    """What the client itself runs with."""

    @property
    def name(self) -> str:
        return os.path.basename(self.program)

    @property
    def is_podman(self) -> bool:
        return self.name == "podman"

    @property
    def runs_here(self) -> bool:
        """Are its containers processes of this machine, that we start? Then they can be looked into."""
        return self.is_podman and sys.platform == "linux" and "CONTAINER_HOST" not in self.env

    def say(self, *words: str, timeout: float = _PATIENCE) -> spawn.Finished:
        """One command of the client to its end."""
        return spawn.run([self.program, *words], cwd="/", env=self.env, timeout=timeout)

    def watched(
        self,
        start: Sequence[str],
        *,
        steps: Sequence[Sequence[str]] = (),
        direct: Sequence[str] = (),
        pid_file: str = "",
        monitor_file: str = "",
        places: Sequence[tuple[str, int, int]] = (),
        status: int = -1,
    ) -> list[str]:
        """The command that starts a container by `start`, and has everything of it below itself: see `launch`."""
        request = {
            "steps": [[self.program, *words] for words in steps],
            "direct": [self.program, *direct] if direct else [],
            "start": [self.program, *start],
            "pid_file": pid_file,
            "monitor_file": monitor_file,
            "places": places,
            "status": status,
        }
        return [*_LAUNCHER, json.dumps(request)]

    def remove(self, *names: str) -> None:
        """End and remove containers, whether they are there or not."""
        self.say("rm", "--force", *names)

    def as_the_user(self) -> tuple[str, ...]:
        """Files that are made inside belong to the user, whichever user the image names."""
        user = f"--user={os.geteuid()}:{os.getegid()}"
        if os.geteuid() == 0:
            return (user,)
        if self.is_podman:
            return ("--userns=keep-id", user)
        # The root of a rootless docker is the user, and any other number belongs to no user.
        rootless = b"name=rootless" in self.say("info", "--format={{json .SecurityOptions}}").stdout
        return ("--user=0:0",) if rootless else (user,)


def find(host: Mapping[str, str]) -> Engine | None:
    """The engine that the user's environment names, or the first one there is."""
    path = host.get("PATH") or environment.DEFAULT_PATH
    chosen = host.get(CHOICE)
    programs = (interpreter.look_up(name, path) for name in PROGRAMS if not chosen or name == chosen)
    program = next((program for program in programs if program), None)
    return Engine(program, environment.clean(base=host, pass_names=CLIENT_VARIABLES)) if program else None


def image_identity(host: Mapping[str, str], image: str) -> str:
    """What the engine knows an image by, whatever its name is: a digest; "" if it does not have the image."""
    client = find(host)
    if client is None:
        return ""
    finished = client.say("image", "inspect", "--format={{.Id}}", image)
    return "" if failure(finished) else finished.stdout.decode("utf-8", "replace").strip().removeprefix("sha256:")


def missing_engine(host: Mapping[str, str]) -> str:
    """Which engine is not there, and what to install; "" when there is one."""
    if find(host):
        return ""
    chosen = host.get(CHOICE)
    if not chosen:
        return f"`podman` or `docker` ({INSTALL})"
    if chosen not in PROGRAMS:
        return f"`podman` or `docker`, and {CHOICE} says `{chosen}`"
    return f"`{chosen}` ({CHOICE} says so): install it, or take the other ({INSTALL})"


def needed(host: Mapping[str, str]) -> Engine:
    """The engine; raises NotRunnable when there is none."""
    if engine := find(host):
        return engine
    raise NotRunnable(f"this needs {missing_engine(host)}")


def is_ours(name: str) -> bool:
    """Is this a variable that means this machine and is never handed into a container?"""
    return name in _OURS or name.startswith(_OURS_PREFIXES)


def volume(source: str, target: str, mode: str) -> str:
    for path in (source, target):
        if ":" in path:
            raise NotRunnable(f"`{path}` has a `:`, which containers take for the end of a path")
    return f"--volume={source}:{target}:{mode}"


def is_direct(engine: Engine, flags: Flags) -> bool:
    """Whether a program in a container can have our pipes as its own, without a process that copies."""
    return engine.runs_here and probe.DIRECT not in flags.without


def wanted_words(engine: Engine, flags: Flags, memory: int) -> list[str]:
    """What is wanted of a plugin's container, as far as this machine can do it."""
    words = {"memory": f"--memory={memory}b", "pids": f"--pids-limit={PIDS}"}
    limits = [words[name] for name in probe.LIMITS if name not in flags.without]
    # The engine's log would let others read a plugin's answers, and fill the disk for a container that stays.
    return [*limits, f"--log-driver={'passthrough' if is_direct(engine, flags) else 'none'}"]


def limited_flags(engine: Engine, *, network: bool, cache: Path | None, image: str = "") -> Flags:
    """What a container with limits needs here, found once and remembered. Raises NotRunnable.

    Nothing is run for it: the container is made for a program that does not exist. Podman makes one of an empty
    directory; a daemon needs some image, and without one it is taken to need nothing.
    """
    if flags := probe.remembered_flags(engine.program, network, cache, limits=True):
        return flags
    if not engine.runs_here and not image:
        return Flags((), () if network else ("--network=none",))
    with tempfile.TemporaryDirectory(prefix="samuel-") as empty:
        root, monitor_file = os.path.join(empty, "root"), os.path.join(empty, "monitor")
        os.mkdir(root)
        of_nothing = (f"--conmon-pidfile={monitor_file}", "--rootfs", root, _NOTHING)
        of = of_nothing if engine.runs_here else ("--pull=never", f"--entrypoint={_NOTHING}", image)

        def attempt(flags: Flags) -> spawn.Finished:
            limit_words = wanted_words(engine, flags, _TRIAL_MEMORY)
            words = (*flags.before, "run", "--rm", *flags.after, *limit_words, *SAFER, *of)
            command = engine.watched(words, monitor_file=monitor_file)
            tried = spawn.run(command, cwd="/", env=engine.env, timeout=_PATIENCE)
            good = tried.returncode == _NOT_FOUND and _NOTHING.encode() in tried.stderr
            return tried._replace(returncode=0 if good else tried.returncode or 1)

        flags_or_error = probe.find(engine.program, network, cache, attempt, limits=True)
    if isinstance(flags_or_error, str):
        raise NotRunnable(f"`{engine.name}` cannot start a container: {flags_or_error}")
    return flags_or_error


def is_pinned(image: str) -> bool:
    """Whether it names the content of an image, not only a tag that may move."""
    return _PINNED.fullmatch(image) is not None


def pin(
    image: str, *, containerfile: Path | None = None, host: Mapping[str, str], cache: Path | None = None
) -> str:
    """The image, got or built if need be, under a name that never means another one. Raises NotRunnable.

    `name@sha256:...` for one that a registry has, so that every machine gets the same; the id `sha256:...` for one
    that was built here. A name below `localhost/` is in no registry: it is built from its containerfile each
    time, so that it is the plugin's as it is now. Any other is taken as it is here, else pulled, else built.
    """
    if not _REFERENCE.fullmatch(image):
        raise NotRunnable(f"`{image}` is not a valid image name", "use for example `ghcr.io/org/name:1.2`")
    engine = needed(host)
    local = image.startswith("localhost/")
    if containerfile and local and not is_pinned(image):
        return _build(engine, image, containerfile, cache)
    if pinned_image := _inspect(engine, image, local):
        return pinned_image
    why = f"`{engine.name}` does not have the image `{image}`"
    if not local and not image.startswith("sha256:"):
        pulled = engine.say("pull", "--quiet", image, timeout=_DOWNLOAD)
        if not failure(pulled) and (pinned_image := _inspect(engine, image, local)):
            return pinned_image
        why = f"`{engine.name}` cannot pull `{image}`: {failure(pulled) or 'it is not there afterwards'}"
    if containerfile and not is_pinned(image):
        return _build(engine, image, containerfile, cache)
    raise NotRunnable(why, "publish the image, or give the plugin a containerfile that builds it")


class _Inspected(msgspec.Struct):
    id: str = msgspec.field(name="Id")
    names: tuple[str, ...] | None = msgspec.field(default=None, name="RepoDigests")
    digest: str = msgspec.field(default="", name="Digest")  # podman only: the one of this machine's kind


def _inspect(engine: Engine, image: str, local: bool) -> str:
    """The pinned name of an image that is here; "" when it is not."""
    looked = engine.say("image", "inspect", image)
    if failure(looked):
        return ""
    if is_pinned(image):
        return image
    (image_record, *_) = decode_json(looked.stdout, list[_Inspected])
    by_id = f"sha256:{image_record.id.removeprefix('sha256:')}"
    if local:  # podman makes up a digest for what it built, which no registry has
        return by_id
    name = image.partition("@")[0]
    name = name if ":" not in name.rpartition("/")[2] else name.rpartition(":")[0]

    def usefulness(reference: str) -> tuple[bool, bool, str]:
        # The digest of the list of all kinds of machines is also right on another kind.
        repository, _, digest = reference.partition("@")
        return repository != name, digest == image_record.digest, reference

    return min(image_record.names or (by_id,), key=usefulness)


def _build(engine: Engine, image: str, containerfile: Path, cache: Path | None) -> str:
    """Build it; its base image and what its steps download may come from the network. Gives its id."""
    if not containerfile.is_file():
        raise NotRunnable(f"`{containerfile}` does not exist")
    try:
        flags = limited_flags(engine, network=True, cache=cache)
    except NotRunnable:  # no network to build: the steps must do without one
        flags = limited_flags(engine, network=False, cache=cache)
    words = [*flags.before, "build", f"--file={containerfile}", f"--tag={image}", *flags.after]
    if engine.is_podman:  # the same files give the same image, here and elsewhere; cached layers have other times
        words += ("--pull=missing", "--layers=false", "--timestamp=0")
    with tempfile.TemporaryDirectory(prefix="samuel-") as scratch:
        file = Path(scratch, "id")
        built = engine.say(*words, f"--iidfile={file}", str(containerfile.parent), timeout=_DOWNLOAD)
        if not (why := failure(built)):
            return file.read_text().strip()
    raise NotRunnable(f"`{engine.name}` cannot build `{containerfile}`: {why}")


def explain(host: Mapping[str, str], cache: Path | None) -> list[str]:
    """Which engine runs containers here, what it needs on this machine and why, what it cannot hold them to."""
    engine = find(host)
    if engine is None:
        return [f"plugins that are images need {missing_engine(host)}"]
    version = engine.say("version", "--format={{.Client.Version}}")
    lines = [
        f"containers are run by `{engine.program}` {version.stdout.decode('utf-8', 'replace').strip()}".strip()
    ]
    if host.get(CHOICE):
        lines[0] += f", as {CHOICE} says"
    if not engine.runs_here and (why := failure(engine.say("version", "--format={{.Server.Version}}"))):
        return [*lines, f"`{engine.name}` does not work: {why}"]
    for network in (False, True):
        try:
            flags = limited_flags(engine, network=network, cache=cache)
        except NotRunnable as error:
            return [*lines, str(error)]
        lines += [line for line in _reasons(flags) if line not in lines]
    return lines + gaps(host, cache)


def gaps(host: Mapping[str, str], cache: Path | None) -> list[str]:
    """What containers on this machine cannot be held to, as far as it was found out."""
    engine = find(host)
    if engine is None:
        return []
    lines = []
    flags = [
        probe.remembered_flags(engine.program, network, cache, limits=True) or Flags() for network in (False, True)
    ]
    if lacking := [name for name in probe.LIMITS if any(name in each.without for each in flags)]:
        lines.append(f"a container cannot be limited in {' and '.join(lacking)} here")
    elif os.geteuid() != 0 and os.path.isdir("/sys/fs/cgroup/memory"):
        lines.append("a container cannot be limited in memory and pids by a user other than root on cgroups v1")
    if "--network=host" in flags[1].after:
        lines.append("a container with `network` has all of this machine's, its local services too")
    if not engine.runs_here:
        lines.append(f"`{engine.name}` looks up a granted path itself: a link put there meanwhile is followed")
    return lines


def _reasons(flags: Flags) -> list[str]:
    """One line for each concession, and what made it necessary."""
    reasons = [
        reason.format(word, word.partition("=")[2])
        for word in (*flags.before, *flags.after)
        for start, reason in _REASONS.items()
        if word.startswith(start)
    ]
    return reasons + [f"without that it said: {words}" for words in flags.refused if reasons]
