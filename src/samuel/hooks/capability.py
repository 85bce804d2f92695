"""What a plugin may do beyond reading its payload and writing to its own data_dir.

Capabilities are declared in the manifest, agreed to when the plugin is added, and checked at every call: by the
walls around a process, the mounts of a container, the host functions of a module, and here for what a result may
change.
"""

# Annotations are not postponed here: msgspec would evaluate the text of each when a type is first used.

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from samuel.events import BeforeAgentInvoke, Event, Sandbox, names
from samuel.process.environment import referenced

READ, WRITE, EXEC, NETWORK, ENV = "filesystem.read", "filesystem.write", "exec", "network", "env"

# Variables that decide which code runs in the agent's process, whatever the agent is. `SAMUEL_` variables tell the
# `samuel` that the agent calls which run it belongs to and which tools the agent may use.
LOADER_NAMES = frozenset(
    (
        *("PATH", "NODE_OPTIONS", "NODE_PATH", "BASH_ENV", "ENV", "SHELLOPTS", "IFS", "PERL5OPT", "PERL5LIB"),
        *("RUBYOPT", "RUBYLIB", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HOME", "SHELL", "EDITOR"),
        *("VISUAL", "PAGER", "BROWSER", "SSH_ASKPASS"),
    )
)
LOADER_PREFIXES = ("LD_", "DYLD_", "PYTHON", "GIT_", "BASH_FUNC_", "npm_config_", "NPM_CONFIG_", "SAMUEL_")


class Capabilities(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a plugin requests, or what it was granted."""

    read: tuple[str, ...] = msgspec.field(default=(), name=READ)
    """Paths of the project; `.` is all of it."""
    write: tuple[str, ...] = msgspec.field(default=(), name=WRITE)
    """Paths of the project, to read and to write. A path that ends in `/` is created if it is missing."""
    exec: bool = False
    """May decide which programs run: handle agent.invoke, change the agent, its loader variables or its sandbox;
    a module may start programs."""
    network: bool | tuple[str, ...] = False
    """Yes or no for processes and containers, a list of hosts for modules."""
    env: tuple[str, ...] = ()
    """Names of the host's variables it receives, and of the agent's variables it may set."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that `network` lists; () when it is true or false."""
        return self.network if isinstance(self.network, tuple) else ()

    def lines(self) -> list[str]:
        """One line per capability, for the user to read before they agree."""
        return [f"{name}: {value}" for name, value in self._values()]

    def _values(self) -> Iterator[tuple[str, str]]:
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


def beyond(requested: Capabilities, granted: Capabilities) -> list[str]:
    """One line per capability in `requested` that is not in `granted`."""
    missing = [f"{READ}: {path}" for path in requested.read if not covers((*granted.read, *granted.write), path)]
    missing += [f"{WRITE}: {path}" for path in requested.write if not covers(granted.write, path)]
    if requested.exec and not granted.exec:
        missing.append(f"{EXEC}: yes")
    if requested.network and granted.network is not True:
        missing += [f"{NETWORK}: {host}" for host in requested.hosts or ("yes",) if host not in granted.hosts]
    return missing + [f"{ENV}: {name}" for name in requested.env if name not in granted.env]


def covers(granted: Sequence[str], path: str) -> bool:
    """True if `path`, relative to the project and without `..`, is one of the granted paths or below one."""
    prefix = f"{path.strip('/')}/"
    return any(root == "." or prefix.startswith(f"{root.strip('/')}/") for root in granted)


def binding_refusal(event: str, granted: Capabilities) -> str:
    """Why a handler of this event may not be called; "" if it may."""
    if event == names.AGENT_INVOKE and not granted.exec:
        return f"a handler of `{event}` starts programs, and the capability `{EXEC}` is not granted"
    return ""


def overreach(event: Event, result: Mapping[str, Any], granted: Capabilities) -> str:
    """Why a result needs more than was granted; "" if it does not. `event` is what the handler received."""
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
    """The variables whose value changes; the value is None for a variable that is dropped.

    Dropping a variable that the agent gets anyway changes nothing: those of the run, and the host's variables that
    its adapter names, which are in the payload as references to themselves.
    """
    changed: dict[str, str | None] = {}
    for name in sorted({*before, *after}):
        value, old = after.get(name), before.get(name)
        put_back = value is None and (name.startswith("SAMUEL_") or referenced(old or "") == name)
        if value != old and not put_back:
            changed[name] = value
    return changed


def _unnamed(changes: Mapping[str, str | None], granted: Capabilities) -> str:
    """Why the capability `env` does not allow these changes; "" if it does.

    Which variables redirect an agent (the address of its model, a proxy, a registry) differs from agent to agent,
    so a plugin must name each variable that it sets. A plugin with `exec` may set any variable, but even that one
    may not pass on a value of the host's environment that `env` does not name.
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


def _looser(sandbox: Mapping[str, Any], now: Sandbox) -> bool:
    """True unless `sandbox` is clearly as strict as `now`, or stricter: better walls, no network.

    Volumes must not change: a volume that is dropped may have covered another, or made a part of it read-only. Nor
    may the image, even for an agent that does not run in one yet: it brings the program that runs.
    """
    kind = str(sandbox.get("kind", "host"))  # a field that the result leaves out has its default, also `network`
    if _WALLS.get(kind, -1) < _WALLS.get(now.kind, 0):
        return True
    other_image = kind == "oci" and sandbox.get("image") != now.image
    more_network = bool(sandbox.get("network", True)) and not now.network
    other_volumes = list(sandbox.get("volumes") or ()) != list(now.volumes)
    return other_image or more_network or other_volumes
