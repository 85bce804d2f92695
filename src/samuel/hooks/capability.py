"""What a plugin may do besides reading its payload and writing to its own data_dir.

Declared in its manifest, agreed to when it is added, and checked again at every call: by the walls around a
process, the mounts of a container, the host functions of a module, and here for what an answer may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from samuel.events import BeforeAgentInvoke, Event, Sandbox, names

READ, WRITE, EXEC, NETWORK, ENV = "filesystem.read", "filesystem.write", "exec", "network", "env"

# Whoever sets these decides which code runs in the agent's process, whatever the agent is.
LOADER_NAMES = frozenset(
    (
        *("PATH", "NODE_OPTIONS", "NODE_PATH", "BASH_ENV", "ENV", "SHELLOPTS", "IFS", "PERL5OPT", "PERL5LIB"),
        *("RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HOME", "SHELL", "EDITOR"),
    )
)
LOADER_PREFIXES = ("LD_", "DYLD_", "PYTHON", "GIT_", "BASH_FUNC_", "npm_config_")


class Capabilities(msgspec.Struct, frozen=True, omit_defaults=True):
    read: tuple[str, ...] = msgspec.field(default=(), name=READ)
    """Paths of the project; `.` is all of it."""
    write: tuple[str, ...] = msgspec.field(default=(), name=WRITE)
    """Paths of the project, read as well as written. One that ends in `/` is made if it is missing."""
    exec: bool = False
    """May decide which programs run: answer to agent.invoke, change the agent, its loader variables, its sandbox;
    from a module, start programs."""
    network: bool | tuple[str, ...] = False
    """Yes or no for processes and containers, a list of hosts for modules."""
    env: tuple[str, ...] = ()
    """Names of the host's variables it receives."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that are listed; none when it is yes or no."""
        return self.network if isinstance(self.network, tuple) else ()

    def lines(self) -> list[str]:
        """For a person to read before they agree, one capability a line."""
        return [f"{name}: {said}" for name, said in self._said()]

    def _said(self) -> Iterator[tuple[str, str]]:
        for name, paths in ((READ, self.read), (WRITE, self.write)):
            if paths:
                yield name, ", ".join("the whole project" if path == "." else path for path in paths)
        if self.exec:
            yield EXEC, "yes"
        if self.network:
            yield NETWORK, ", ".join(self.hosts) or "yes"
        if self.env:
            yield ENV, ", ".join(self.env)


NOTHING = Capabilities()


def beyond(asked: Capabilities, granted: Capabilities) -> list[str]:
    """What of `asked` is not in `granted`, in words; nothing when it is enough."""
    missing = [f"{READ}: {path}" for path in asked.read if not covers((*granted.read, *granted.write), path)]
    missing += [f"{WRITE}: {path}" for path in asked.write if not covers(granted.write, path)]
    if asked.exec and not granted.exec:
        missing.append(f"{EXEC}: yes")
    if asked.network and granted.network is not True:
        missing += [f"{NETWORK}: {host}" for host in asked.hosts or ("yes",) if host not in granted.hosts]
    return missing + [f"{ENV}: {name}" for name in asked.env if name not in granted.env]


def covers(granted: Sequence[str], path: str) -> bool:
    """Is `path`, relative to the project and made of plain names, one of these or below one?"""
    wanted = f"{path.strip('/')}/"
    return any(place == "." or wanted.startswith(f"{place.strip('/')}/") for place in granted)


def binding_refusal(event: str, granted: Capabilities) -> str:
    """Why a handler of this event may not be called; "" if it may."""
    if event == names.AGENT_INVOKE and not granted.exec:
        return f"answering to `{event}` starts programs, and the capability `{EXEC}` is not granted"
    return ""


def overreach(event: Event, result: Mapping[str, Any], granted: Capabilities) -> str:
    """Why an answer goes beyond what was granted; "" if it does not. `event` is what the handler was shown."""
    if granted.exec or not isinstance(event, BeforeAgentInvoke):
        return ""
    found = []
    if result.get("agent", event.agent) != event.agent:
        found.append("changes `agent`")
    given = result.get("env")
    if isinstance(given, Mapping):
        found += [
            f"changes `{name}`"
            for name in sorted({*given, *event.env})
            if _is_loader(name) and given.get(name) != event.env.get(name)
        ]
    sandbox = result.get("sandbox")
    if isinstance(sandbox, Mapping) and _looser(sandbox, event.sandbox):
        found.append("loosens `sandbox`")
    return f"it {', '.join(found)}, and the capability `{EXEC}` is not granted" if found else ""


def _is_loader(name: str) -> bool:
    return name in LOADER_NAMES or name.startswith(LOADER_PREFIXES)


_WALLS = {"host": 0, "bwrap": 1, "oci": 2}


def _looser(wanted: Mapping[str, Any], now: Sandbox) -> bool:
    """Anything that is not clearly as tight as before, or tighter: better walls, no network, fewer volumes."""
    kind = str(wanted.get("kind", "host"))  # what an answer leaves out has its default, also the network
    if _WALLS.get(kind, -1) < _WALLS.get(now.kind, 0):
        return True
    other_image = kind == now.kind == "oci" and wanted.get("image") != now.image
    more_network = bool(wanted.get("network", True)) and not now.network
    more_volumes = not set(map(str, wanted.get("volumes") or ())) <= set(now.volumes)
    return other_image or more_network or more_volumes
