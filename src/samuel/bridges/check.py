"""The static check of a bridge: what can be known about it without starting the client."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import NamedTuple

from samuel.base.errors import ConfigError
from samuel.bridges import files
from samuel.bridges.files import BridgeContext, BridgeEntry, Level
from samuel.bridges.trust_steps import TrustStep, trust_step
from samuel.clients.entries.hook_command import ON_PATH, installed_command
from samuel.clients.entries.json_text import JsonSyntaxError, parse
from samuel.clients.entries.layouts import LAYOUTS
from samuel.clients.entries.registered import registered_events
from samuel.files.regular import read_regular

# These ask about trust before their first session in a directory; the others skip the hooks and say nothing.
ASK_THEMSELVES = ("claude",)
LEVELS: tuple[Level, ...] = ("project", "user")


class BridgeCheck(NamedTuple):
    """What is known about the bridge of one client."""

    client: str
    entries: tuple[BridgeEntry, ...]
    trust: dict[Level, TrustStep]
    """For the levels that have entries."""
    program: str
    """Where the client is installed; "" if it is not on PATH."""
    problems: tuple[str, ...]
    """Why Samuel is not asked, or not as it should be."""
    notes: tuple[str, ...]
    broken: tuple[str, ...]
    """The problems that are about files which cannot be read."""

    @property
    def ok(self) -> bool:
        return not self.problems


def check(context: BridgeContext, client: str) -> BridgeCheck:
    """Look at the client's files, its trust in them, and the commands they name."""
    layout = LAYOUTS[client]
    path = context.environment.get("PATH")
    program = shutil.which(layout.program, path=path) or ""
    entries: list[BridgeEntry] = []
    problems: list[str] = []
    notes: list[str] = []
    for level in LEVELS:
        try:
            entries += files.entries(context, client, level)
        except ConfigError as error:
            problems += [str(problem) for problem in error.problems]
    levels = [level for level in LEVELS if any(entry.level == level for entry in entries)]
    trust = {
        level: trust_step(context, client, level, [entry for entry in entries if entry.level == level])
        for level in levels
    }
    broken = tuple(problems)
    problems += [] if broken else _entry_problems(client, entries, levels, path)
    problems += _switched_off(context, client)
    for level, step in trust.items():
        if step.state == "untrusted":
            reports = notes if client in ASK_THEMSELVES else problems
            reports.append(f"{client} does not trust these hooks yet: {step.step}")
        elif step.state == "unknown":
            notes.append(f"whether {client} trusts the hooks of this {level} cannot be looked up: {step.step}")
    if not program:
        notes.append(f"`{layout.program}` is not on PATH")
    if len(levels) > 1:
        notes.append(
            f"both the project's and your own file have entries, so Samuel is asked twice about every event: "
            f"`samuel bridge remove --user {client}` removes yours"
        )
    return BridgeCheck(client, tuple(entries), trust, program, tuple(problems), tuple(notes), broken)


def _entry_problems(
    client: str, entries: Sequence[BridgeEntry], levels: Sequence[Level], path: str | None
) -> list[str]:
    if not entries:
        scope = "" if LAYOUTS[client].project else "--user "
        return [f"no hooks of {client} ask Samuel: `samuel bridge add {scope}{client}` adds them"]
    problems = []
    for level in levels:
        present = {event for entry in entries if entry.level == level for event in entry.events}
        missing = [event for event in registered_events(client) if event not in present]
        again = f"`samuel bridge add --{level} {client}` writes them again"
        if missing:
            problems.append(f"the {level}'s hooks lack {', '.join(missing)}: {again}")
        elif not all(entry.current for entry in entries if entry.level == level):
            problems.append(f"the {level}'s hooks were written by another version or for another path: {again}")
    program = ON_PATH.words[0]
    if "project" in levels and not shutil.which(program, path=path):
        problems.append(f"`{program}` is not on PATH, so the project's hooks deny everything: install it on PATH")
    if "user" in levels and not shutil.which(installed_command().words[0]):
        problems.append(f"`{installed_command().words[0]}` does not exist: install Samuel again")
    return problems


# The settings that switch all hooks of a client off, and their value then.
_SWITCHES: dict[str, tuple[tuple[str, ...], object]] = {
    "claude": (("disableAllHooks",), True),
    "qwen": (("disableAllHooks",), True),
    "gemini": (("hooksConfig", "enabled"), False),
}


def _switched_off(context: BridgeContext, client: str) -> list[str]:
    """The files that switch the client's hooks off."""
    if client not in _SWITCHES:
        return []
    keys, off = _SWITCHES[client]
    problems = []
    for level in LEVELS:
        for entry_file in context.files(client, level):
            file = context.base(client, level) / entry_file.path
            try:
                value: object = parse(read_regular(file).decode("utf-8-sig")).root.value
            except (OSError, UnicodeDecodeError, JsonSyntaxError):  # reported with the entries
                continue
            for key in keys:
                value = value.get(key) if isinstance(value, dict) else None
            if value is off:
                problems.append(f"{file}: `{'.'.join(keys)}` switches all hooks of {client} off: remove it")
    return problems
