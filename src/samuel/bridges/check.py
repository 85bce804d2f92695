"""What is known about a bridge without a session of the client: its entries, its trust in them, the last proof.

Clients skip hooks that they do not trust, and say nothing. So `bridge add` names the step, and `bridge check`
looks where the client records it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Literal, NamedTuple

from samuel.base.errors import ConfigError
from samuel.bridges import files
from samuel.bridges.client_version import installed_version, version_notes
from samuel.bridges.files import BridgeContext
from samuel.bridges.managed import is_managed
from samuel.bridges.proofs import Proof, latest_proofs
from samuel.clients.entries.hook_command import ON_PATH, installed_command
from samuel.clients.entries.hook_trust import Ask, BridgeEntry, Level, TrustQuestion
from samuel.clients.entries.settings_file import read_settings
from samuel.clients.promises import FAIL_CLOSED, keeps
from samuel.clients.table import CLIENTS, LAYOUTS
from samuel.process import environment
from samuel.process.conversation import Conversation
from samuel.process.reason import NotRunnable

TrustState = Literal["trusted", "untrusted", "unknown", "not needed"]

LEVELS: tuple[Level, ...] = ("project", "user")
ANSWER_TIMEOUT = 20.0
LONGEST_ANSWER = 4 * 1024 * 1024


class TrustStep(NamedTuple):
    """What the client asks for, and where that stands."""

    state: TrustState
    step: str
    """What the user has to do; "" if nothing."""


def trust_step(
    context: BridgeContext, client: str, level: Level, entries: Iterable[BridgeEntry] = ()
) -> TrustStep:
    """Where the client's trust in these entries stands."""
    layout = LAYOUTS[client]
    step = layout.trust.steps.get(level, "")
    if not step:
        return TrustStep("not needed", "")
    if layout.trust.look_up is None:
        return TrustStep("unknown", step)
    home = layout.home(context.environment, context.user.home)
    converse = partial(conversing, context)
    question = TrustQuestion(context.root, context.environment, home, tuple(entries), converse)
    return TrustStep("trusted" if layout.trust.look_up(question) else "untrusted", step)


@contextmanager
def conversing(context: BridgeContext, argv: Sequence[str], pass_names: Sequence[str]) -> Iterator[Ask]:
    """A program of the client that answers questions on its stdin; one that cannot be started answers none."""
    env = environment.clean(pass_names=pass_names, base=context.environment)
    try:
        conversation = Conversation(argv, cwd=str(context.root), env=env, over_stdio=True)
    except NotRunnable:
        yield lambda question: None
        return

    def ask(question: bytes) -> bytes | None:
        reply = conversation.ask(question, timeout=ANSWER_TIMEOUT, limit=LONGEST_ANSWER)
        return reply.answer if reply.ended == "answered" else None

    try:
        yield ask
    finally:
        conversation.close()


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
    managed: bool = False
    """Whether an administrator installed Samuel's hooks for all users of this machine."""

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
    managed = is_managed(client, context.system)
    if not broken and (entries or not managed):
        problems += _entry_problems(client, entries, levels, path)
    problems += _switched_off(context, client)
    if entries or managed:
        problems += _rivals(context, client)
    version = installed_version(client, context.environment, context.root) if entries else ""
    notes += version_notes(client, version)
    open_levels = [entry.level for entry in entries if not entry.fails_closed]
    if keeps(client, FAIL_CLOSED, version):
        notes += (
            f"the installed {client} can deny by itself where a hook fails, and these hooks do not say so: "
            f"`samuel bridge add --{level} {client}` writes them again"
            for level in open_levels
        )
    for level, step in trust.items():
        if step.state == "untrusted":
            reports = notes if layout.trust.asks_itself else problems
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
    if managed:
        notes.append("an administrator of this machine installed Samuel's hooks for all its users")
    return BridgeCheck(client, tuple(entries), trust, program, tuple(problems), tuple(notes), broken, managed)


def _entry_problems(
    client: str, entries: Sequence[BridgeEntry], levels: Sequence[Level], path: str | None
) -> list[str]:
    if not entries:
        scope = "" if LAYOUTS[client].project else "--user "
        return [f"no hooks of {client} ask Samuel: `samuel bridge add {scope}{client}` adds them"]
    problems = []
    for level in levels:
        present = {event for entry in entries if entry.level == level for event in entry.events}
        missing = [event for event in CLIENTS[client].registered_events if event not in present]
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


def _switched_off(context: BridgeContext, client: str) -> list[str]:
    """The files that switch the client's hooks off."""
    switch = LAYOUTS[client].off_switch
    if switch is None:
        return []
    problems = []
    for level in LEVELS:
        for entry_file in context.files(client, level):
            file = context.base(client, level) / entry_file.path
            value: object = read_settings(file)
            for key in switch.keys:
                value = value.get(key) if isinstance(value, dict) else None
            if value is switch.value:
                problems.append(f"{file}: `{'.'.join(switch.keys)}` switches all hooks of {client} off: remove it")
    return problems


def _rivals(context: BridgeContext, client: str) -> list[str]:
    """What runs inside of the client and can answer before Samuel's hooks are asked."""
    layout = LAYOUTS[client]
    home = layout.home(context.environment, context.user.home)
    return [
        f"drift: `{rival.name}` can answer before Samuel's hooks are asked, by {', '.join(rival.reaches)} "
        f"({rival.file}): disable it, unless you trust it to pass every call on"
        for rival in layout.rivals(home, context.root)
        if rival.reaches
    ]


class BridgeState(NamedTuple):
    """Whether the hooks of a client ask Samuel."""

    levels: tuple[str, ...]
    """Whose files have entries: `project`, `user`, both or neither."""
    problems: tuple[str, ...]
    """Why Samuel is not asked though there are entries."""
    proof: Proof | None
    """The latest proof in this project."""


def bridge_state(context: BridgeContext, client: str) -> BridgeState | None:
    """The state of a client's bridge; None for an agent that has no hooks."""
    if client not in LAYOUTS or client not in CLIENTS:
        return None
    checked = check(context, client)
    levels = tuple(dict.fromkeys(entry.level for entry in checked.entries))
    problems = checked.problems if levels else ()
    return BridgeState(levels, problems, latest_proofs(context.user.state, context.root).get(client))
