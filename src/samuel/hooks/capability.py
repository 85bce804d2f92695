"""What a plugin may do besides reading its payload and writing to its own data_dir.

Declared in its manifest, agreed to when it is added, and checked again at every call: by the walls around a
process, the mounts of a container, the host functions of a module, and here for what an answer may change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from samuel.events import BeforeAgentInvoke, Event, Sandbox, names
from samuel.process.environment import referenced

READ, WRITE, EXEC, NETWORK, ENV = "filesystem.read", "filesystem.write", "exec", "network", "env"

# Whoever sets these decides which code runs in the agent's process, whatever the agent is. `SAMUEL_` is for the
# `samuel` that the agent calls: which run it belongs to, and which tools the agent is held to.
LOADER_NAMES = frozenset(
    (
        *("PATH", "NODE_OPTIONS", "NODE_PATH", "BASH_ENV", "ENV", "SHELLOPTS", "IFS", "PERL5OPT", "PERL5LIB"),
        *("RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HOME", "SHELL", "EDITOR"),
        *("VISUAL", "PAGER", "BROWSER", "SSH_ASKPASS"),
    )
)
LOADER_PREFIXES = ("LD_", "DYLD_", "PYTHON", "GIT_", "BASH_FUNC_", "npm_config_", "NPM_CONFIG_", "SAMUEL_")


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
    """Names of the host's variables it receives, and of the agent's variables it may set."""

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
    if not isinstance(event, BeforeAgentInvoke):
        return ""
    env = result.get("env")
    changes = _changes(event.env, env) if isinstance(env, Mapping) else {}
    if why := _unnamed(changes, granted):
        return why
    if granted.exec:
        return ""
    needs_exec = [f"changes `{name}`" for name in changes if _is_loader(name)]
    if result.get("agent", event.agent) != event.agent:
        needs_exec.insert(0, "changes `agent`")
    sandbox = result.get("sandbox")
    if isinstance(sandbox, Mapping) and _looser(sandbox, event.sandbox):
        needs_exec.append("loosens `sandbox`")
    return f"it {', '.join(needs_exec)}, and the capability `{EXEC}` is not granted" if needs_exec else ""


def _changes(before: Mapping[str, str], after: Mapping[str, Any]) -> dict[str, str | None]:
    """Each variable with another value than before; None for one that was left out.

    Leaving out what the agent gets anyway changes nothing: the run's own names, and the host's variables that its
    adapter names, which are in the payload as references to themselves.
    """
    changed: dict[str, str | None] = {}
    for name in sorted({*before, *after}):
        value, old = after.get(name), before.get(name)
        put_back = value is None and (name.startswith("SAMUEL_") or referenced(old or "") == name)
        if value != old and not put_back:
            changed[name] = value
    return changed


def _unnamed(changes: Mapping[str, str | None], granted: Capabilities) -> str:
    """Why `env` is not enough for these variables; "" if it is.

    Which variables redirect an agent (its model's address, a proxy, a registry) differs from agent to agent, so
    a list of the harmless ones is what the plugin asks for. Where a plugin may decide which programs run, it may
    set any of them; but a value of the host's is never its to hand on unasked.
    """
    for name, value in changes.items():
        if host_name := referenced(value or ""):
            if host_name not in granted.env:
                return f"it passes on the host's `{host_name}`, and the capability `{ENV}` does not name it"
        elif not granted.exec and name not in granted.env and not _is_loader(name):
            verb = "drops" if value is None else "sets"
            return f"it {verb} the agent's `{name}`, and the capability `{ENV}` does not name it"
    return ""


def _is_loader(name: str) -> bool:
    return name in LOADER_NAMES or name.startswith(LOADER_PREFIXES)


_WALLS = {"host": 0, "bwrap": 1, "oci": 2}


def _looser(wanted: Mapping[str, Any], now: Sandbox) -> bool:
    """Anything that is not clearly as tight as before, or tighter: better walls, no network.

    Volumes stay as they are: one that is left out may have covered another, or made part of it read-only. So does
    the image, also for an agent that is not in one yet: what runs in it is the image's program.
    """
    kind = str(wanted.get("kind", "host"))  # what an answer leaves out has its default, also the network
    if _WALLS.get(kind, -1) < _WALLS.get(now.kind, 0):
        return True
    other_image = kind == "oci" and wanted.get("image") != now.image
    more_network = bool(wanted.get("network", True)) and not now.network
    other_volumes = list(wanted.get("volumes") or ()) != list(now.volumes)
    return other_image or more_network or other_volumes
