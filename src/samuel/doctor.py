"""Checks of a project and the machine, each with how to fix it. They change nothing."""

from __future__ import annotations

import os
import platform
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from samuel.app import App
from samuel.app.discovery import tool_name_warnings
from samuel.base import paths
from samuel.base.clock import iso
from samuel.base.errors import ConfigError, SamuelError
from samuel.bridges.check import LEVELS as BRIDGE_LEVELS
from samuel.bridges.client_version import installed_version, version_notes
from samuel.bridges.files import BridgeContext, entries
from samuel.bridges.proofs import latest_proofs
from samuel.clients.promises import PROMISES
from samuel.confine.containers import engine
from samuel.confine.walls import limits
from samuel.confine.walls.walls import BWRAP, counts_processes, strength
from samuel.dispatch.record import percentile, slowness
from samuel.emit.serve import wire
from samuel.emit.serve.client_program import HOW_TO_GET_NATIVE, ClientProgram, client_program
from samuel.emit.serve.control import ask
from samuel.emit.serve.socket_places import place_problems, usable_directory
from samuel.emit.serve.start import sockets, why_not
from samuel.git.hardening import git_program
from samuel.hooks.handler import HandlerMode, HandlerStatus
from samuel.hooks.order import Chain
from samuel.journal import CallRecord, newest_first
from samuel.process.emit_client import NATIVE_CLIENT, SWITCH, installation_of
from samuel.routing.abilities import registry
from samuel.routing.abilities.lint import lint as lint_abilities
from samuel.routing.knowledge.lint import lint as lint_knowledge
from samuel.routing.knowledge.reading import find_root, read_base
from samuel.sources.client_hooks.find import read_files
from samuel.sources.client_hooks.imported_files import present, project_files
from samuel.sources.hook_files import unmarked_files
from samuel.sources.yaml_hook import HOW
from samuel.version import __version__

RECENT = 2000  # records of the journal
FULL_BYTES = 1024**2
LITTLE_BYTES = 200 * 1024**2  # a journal takes up to 64 MiB, the log of one agent up to 64 MiB


class Finding(NamedTuple):
    level: str  # ok, note, warning, error
    what: str
    hint: str = ""


class Examination(NamedTuple):
    findings: list[Finding]
    chains: Mapping[str, Chain]  # empty when the project cannot be opened


def examine(root: Path, open_app: Callable[..., App]) -> Examination:
    """All findings about the project at `root` and the machine."""
    findings = [*_machine(root), *_places(root)]
    chains: Mapping[str, Chain] = {}
    try:
        with open_app(root, fresh=True) as app:
            chains = app.chains
            findings += [
                *_hooks(app),
                *_client_hooks(app),
                *_environment(app),
                *_plugins(app),
                *_chains(chains.values()),
                *_server(app),
            ]
            findings += [*_abilities(app), *_knowledge(root)]
            findings += [Finding("warning", warning) for warning in tool_name_warnings(app)]
            sandboxes = [methodology.sandbox.kind for methodology in app.config.methodology.values()]
            if "oci" in (*sandboxes, *(handler.runtime for handler in app.handlers)):
                findings += _containers(app.user)
            findings += [Finding("warning", warning) for warning in app.warnings]
    except ConfigError as error:
        for problem in error.problems:
            findings.append(Finding("error", str(problem._replace(hint="")), problem.hint))
        findings.append(Finding("note", "hooks were not checked", "fix the error above first"))
    except SamuelError as error:
        findings.append(Finding("error", error.message, error.hint))
    return Examination([*findings, *_versions(root), *_proofs(root), *_slow(root)], chains)


def _machine(root: Path) -> Iterator[Finding]:
    yield Finding("ok", f"samuel {__version__}, Python {platform.python_version()} ({sys.executable})")
    git = git_program(os.environ, root)
    yield Finding("ok", f"git is `{git}`") if git else Finding("warning", "git is not installed", "install it")
    walls = strength()
    if walls.kind == BWRAP:
        yield Finding("ok", "plugins' processes are held to their grants by bubblewrap")
    else:
        yield Finding("warning", f"plugins' processes are held to their grants by {walls.kind}", walls.why)
    for gap in walls.gaps:
        yield Finding("note", f"gap of {walls.kind}, for a plugin's process: {gap}")
    for gap in limits.gaps(counts_processes()):
        yield Finding("note", f"gap of the limits on a plugin: {gap}")


def _containers(user: paths.User) -> Iterator[Finding]:
    """Only for projects that use containers: these checks start some."""
    lines = engine.explain(os.environ, user.cache)
    for line in lines:
        yield Finding("note", line)


def _places(root: Path) -> Iterator[Finding]:
    if (root / paths.CONFIG).is_file():
        yield Finding("ok", f"the project is `{root}`")
    else:
        yield Finding(
            "note", f"`{root}` has no samuel.toml: everything has its default", "`samuel init` writes one"
        )
    user = paths.User.from_environment()
    places = (("state", user.state), ("cache", user.cache), ("journal", paths.Project(root).journal))
    for name, place in places:
        if _writable(place):
            yield Finding("ok", f"{name} can be written: `{place}`")
        else:
            yield Finding("error", f"{name} cannot be written: `{place}`", _how_to_make_writable(place))
    yield from _disks(("project", root), ("home directory", user.home), ("state", user.state))


def _disks(*places: tuple[str, Path]) -> Iterator[Finding]:
    """File systems with little room left, each once."""
    devices_seen: set[int] = set()
    for name, place in places:
        there = _nearest(place)
        try:
            device, disk = os.stat(there).st_dev, os.statvfs(there)
        except OSError:  # a broken link, reported above
            continue
        if device in devices_seen:
            continue
        devices_seen.add(device)
        free = disk.f_bavail * disk.f_frsize
        hint = f"free some space on the file system of `{there}`"
        if disk.f_files and not disk.f_favail:
            yield Finding("error", f"the disk of the {name} has no room for another file: `{place}`", hint)
        elif free < FULL_BYTES:
            yield Finding("error", f"the disk of the {name} is full: `{place}`", hint)
        elif free < LITTLE_BYTES:
            left = f"{free / 1024**2:.0f} MiB left"
            yield Finding("warning", f"the disk of the {name} is nearly full, {left}: `{place}`", hint)


def _writable(place: Path) -> bool:
    """Can it be written, or created if it is missing?"""
    there = _nearest(place)
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _how_to_make_writable(place: Path) -> str:
    there = _nearest(place)
    if not there.is_dir():
        return f"`{there}` is not a directory; move it away"
    if os.statvfs(there).f_flag & os.ST_RDONLY:
        return f"the file system of `{there}` is read-only; mount it so that it can be written"
    return f"give yourself the permission to write in `{there}`"


def _nearest(place: Path) -> Path:
    """`place`, or the directory above it in which it would be made."""
    return next(path for path in (place, *place.parents) if os.path.lexists(path))


LEVELS = {
    HandlerStatus.BROKEN: "error",
    HandlerStatus.UNTRUSTED: "warning",
    HandlerStatus.SHADOWED: "note",
    HandlerStatus.DISABLED: "note",
}


def _hooks(app: App) -> Iterator[Finding]:
    handlers = app.handlers
    for handler in handlers:
        if level := LEVELS.get(handler.status):
            yield Finding(
                level, f"`{handler.name}` ({handler.origin.label}) is {handler.status}: {handler.reason}"
            )
    for unmarked in unmarked_files(app.paths.root, app.user.home):
        yield Finding("note", unmarked)
    active = sum(handler.status is HandlerStatus.ACTIVE for handler in handlers)
    yield Finding("ok", f"{active} handlers are active")


def _client_hooks(app: App) -> Iterator[Finding]:
    """Hooks for other agents that the project has and does not import."""
    idle = [agent for agent in present(app.paths.root) if agent not in app.config.import_hooks]
    places = project_files(app.paths.root, idle)
    if files := [read.file for read in read_files(places) if read.hooks or read.problems]:
        listed = ", ".join(f'"{agent}"' for agent in idle)
        hint = f"`import_hooks = [{listed}]` in samuel.toml runs them for every agent, once you trust them"
        yield Finding("note", f"hooks of other agents are not imported: {', '.join(files)}", hint)


def _environment(app: App) -> Iterator[Finding]:
    """Is the environment set and known, if hooks or abilities depend on it?"""
    hooks = [
        read.hook for read in app.discovery.yaml_files.look(app.paths.root) if read.hook and read.hook.environments
    ]
    abilities = [
        ability for ability in registry.load(app.paths.root, app.user.cache).abilities if ability.environments
    ]
    if app.environment and not app.discovery.environment_here.is_known:
        what = f"no hook, ability or setting names the environment `{app.environment}`"
        yield Finding("warning", f"{what}; guards for other environments are in force", HOW)
    elif not app.environment and (hooks or abilities):
        counted = " and ".join(filter(None, (_counted(hooks, "hook"), _counted(abilities, "ability"))))
        are = "is" if len(hooks) + len(abilities) == 1 else "are"
        what = f"{counted} {are} for some environments only, and none is set"
        yield Finding("warning", f"{what}; of these, guards are in force, and nothing else runs", HOW)


def _counted(things: Sequence[object], noun: str) -> str:
    plural = f"{noun}s" if not noun.endswith("y") else f"{noun[:-1]}ies"
    return f"{len(things)} {noun if len(things) == 1 else plural}" if things else ""


def _plugins(app: App) -> Iterator[Finding]:
    for plugin in app.plugins.all:
        for problem in plugin.problems:
            yield Finding("error", f"`{plugin.title}`: {problem._replace(hint='')}", problem.hint)
        for line in plugin.grants.lines():
            yield Finding("note", f"`{plugin.title}` may use {line}")
    there = {name for plugin in app.plugins.all for name in (plugin.name, plugin.title)}
    for name, settings in app.config.plugins.items():
        if name not in there:
            where = f"{app.config.file}:{settings.line}"
            hint = "remove the table, correct its name, or `samuel plugin install`"
            yield Finding("warning", f"{where}: `[plugins.{name}]` is for a plugin that is not installed", hint)


def _abilities(app: App) -> Iterator[Finding]:
    loaded = registry.load(app.paths.root, app.user.cache)
    if not loaded.abilities and not loaded.problems:
        return
    if loaded.abilities:
        yield Finding("ok", f"{_counted(loaded.abilities, 'ability')} in the registry")
    if problems := lint_abilities(app.paths.root, loaded):
        hint = "`samuel ability lint` shows them"
        yield Finding("warning", f"{_counted(problems, 'problem')} in the registry of abilities", hint)


def _knowledge(root: Path) -> Iterator[Finding]:
    place = find_root(root)
    if place is None:
        return
    hint = "`samuel knowledge lint` shows them"
    try:
        base = read_base(place)
    except ConfigError as error:
        yield Finding("warning", str(error.problems[0]._replace(hint="")), error.problems[0].hint)
        return
    if base.indexes:
        yield Finding("ok", f"{_counted(base.indexes, 'topic')} in ROUTING.md")
    if problems := lint_knowledge(base):
        yield Finding("warning", f"{_counted(problems, 'problem')} in what ROUTING.md leads to", hint)


CLIENT_PROGRAMS = {
    ClientProgram.NATIVE: Finding("ok", f"`{NATIVE_CLIENT}` is a native program"),
    ClientProgram.PYTHON: Finding(
        "note", f"`{NATIVE_CLIENT}` is a Python program: each call starts an interpreter", HOW_TO_GET_NATIVE
    ),
    ClientProgram.MISSING: Finding("warning", f"`{NATIVE_CLIENT}` is not installed", "install Samuel again"),
}


def _server(app: App) -> Iterator[Finding]:
    """The servers of the project, or why there is none; and the program that asks them."""
    installation = installation_of(sys.argv[0], sys.executable)
    yield CLIENT_PROGRAMS[client_program(installation)]
    if reason := why_not(app):
        hint = "unset it" if os.environ.get(SWITCH) else ""
        yield Finding("note", f"`samuel emit` is answered without a server: {reason}", hint)
        return
    for problem in place_problems(os.environb, str(app.paths.root)):
        yield Finding("note" if problem.harmless else "warning", problem.what, problem.hint)
    paths_served = sockets(app.paths.root, installation)
    for path in paths_served:
        try:
            status = ask(path, wire.STATUS)
        except SamuelError as error:
            yield Finding("warning", error.message, error.hint)
        else:
            yield Finding("ok", f"the server {status.pid} answers `samuel emit` (calls: {status.calls})")
    if not paths_served and usable_directory(os.environb, str(app.paths.root)):
        yield Finding("note", "no server is running; the next `samuel emit` starts one")


def _chains(chains: Iterable[Chain]) -> Iterator[Finding]:
    for chain in chains:
        for warning in chain.warnings:
            yield Finding("warning", warning)
        for step in chain.steps:
            if step.mode is HandlerMode.OBSERVE:
                what = (
                    f"`{step.handler.name}` is observed on `{chain.event.name}`: what it decides is only recorded"
                )
                yield Finding("note", what, "`samuel hooks log --would-deny` shows it")
        for left in chain.left_out:
            hint = f"`samuel hooks explain {chain.event.name}` shows more"
            yield Finding("note", f"`{left.handler.name}` does not run on `{chain.event.name}`: {left.why}", hint)


PROOF_LEVELS = {"ok": "ok", "drift": "error", "inconclusive": "warning", "error": "warning"}


def _proofs(root: Path) -> Iterator[Finding]:
    """What the latest live checks of agents' hooks in this project concluded, one for each agent."""
    for proof in latest_proofs(paths.User.from_environment().state, root).values():
        when = iso(proof.checked_at)[:10]
        client = f"{proof.client} {proof.version}".strip()
        what = f"live check of {client} on {when}: {proof.verdict}: {proof.why}"
        hint = "" if proof.verdict == "ok" else f"`samuel bridge check --live {proof.client}` checks it again"
        yield Finding(PROOF_LEVELS[proof.verdict], what, hint)


def _versions(root: Path) -> Iterator[Finding]:
    """What the installed versions of the bridged agents are too old for."""
    context = BridgeContext(root, paths.User.from_environment(), os.environ)
    for client in PROMISES:
        if _is_bridged(context, client):
            version = installed_version(client, os.environ, root)
            for note in version_notes(client, version):
                yield Finding("warning", note, f"install a newer {client}")


def _is_bridged(context: BridgeContext, client: str) -> bool:
    try:
        return any(entries(context, client, level) for level in BRIDGE_LEVELS)
    except ConfigError:  # `samuel bridge check` says what is wrong with the file
        return False


def _slow(root: Path) -> Iterator[Finding]:
    """Handlers that took long, by the 95th percentile of their latest calls."""
    durations: dict[tuple[str, str], list[float]] = defaultdict(list)
    for record in islice(newest_first(root, paths.Project(root).journal), RECENT):
        if isinstance(record, CallRecord) and not record.background:
            durations[record.event, record.handler].append(record.duration_ms)
    for (event, handler), taken in sorted(durations.items()):
        worst = percentile(taken, 95)
        if level := slowness(event, handler, worst):
            yield Finding(level, f"`{handler}` takes {worst:.0f} ms on `{event}` (p95, calls: {len(taken)})")
