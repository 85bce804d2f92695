"""What a machine needs before it can do an attempt: each thing is looked for, and named when it is missing."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from samuel.agents.check import missing_in
from samuel.agents.find_agent import find
from samuel.base.errors import SamuelError
from samuel.base.printable import shell_word
from samuel.confine import sandbox as sandboxes
from samuel.git.git import GitFailed
from samuel.git.landing import OLDEST
from samuel.trust.commands import remember_requested, task_checks, texts
from samuel.workspaces.fleet.refusal import MachineRefused
from samuel.workspaces.fleet.wire import MachineRequest

if TYPE_CHECKING:
    from samuel.app.project import App


def require_room(directory: os.PathLike[str], room: int) -> None:
    """Raise MachineRefused if less is free on the disk."""
    free = shutil.disk_usage(directory).free
    if free < room:
        what = f"only {free // 1_000_000} MB are free below `{os.fspath(directory)}`"
        raise MachineRefused("disk", what, f"make room: {room // 1_000_000} MB are needed", lasting=False)


def refuse_what_is_missing(app: App, request: MachineRequest) -> None:
    """Raise MachineRefused for the first thing that an attempt would lack here."""
    if app.plugins.missing:  # one of them may be a guard
        names = ", ".join(f"`{name}`" for name in app.plugins.missing)
        hint = f"`samuel -C {shell_word(app.paths.root)} plugin install` installs them"
        raise MachineRefused("plugins", f"samuel.lock names {names}, not installed on this machine", hint)
    _refuse_untrusted(app, request)
    place = app.workplace
    if place.sealed_checks:  # of a run that began without them
        raise MachineRefused("sandbox", "sealed checks cannot run on other machines", "remove `sealed_checks`")
    agent = find(request.agent, place.agents)
    if place.settings.sandbox.kind != sandboxes.HOST and (
        why := sandboxes.missing(place.settings.sandbox, place.confinement)
    ):
        raise MachineRefused("sandbox", why)
    if why := missing_in(agent, place.settings.sandbox, place.confinement):
        raise MachineRefused("agent", why)
    if reviewer := place.settings.review.agent:
        if why := missing_in(find(reviewer, place.agents), place.settings.sandbox, place.confinement):
            raise MachineRefused("agent", f"`review` needs the agent `{reviewer}`: {why}")
        if why := place.tool_hooks.refusal(find(reviewer, place.agents), place.settings.sandbox.kind):
            raise MachineRefused("guards", why, "`--accept-unguarded` starts the run all the same")
    own = place.agents.get(request.agent)
    lacking = [name for name in request.agent_variables if name not in place.host]
    if own is not None and own.command and lacking:
        names = ", ".join(f"`{name}`" for name in lacking)
        what = f"the agent `{request.agent}` receives {names}, not set on this machine"
        raise MachineRefused("agent", what, "set it where `ssh HOST env` shows it, such as ~/.ssh/environment")
    if why := place.tool_hooks.refusal(agent, place.settings.sandbox.kind):
        raise MachineRefused("guards", why, "`--accept-unguarded` starts the run all the same")
    try:
        if place.git.version() < OLDEST:
            needed = ".".join(map(str, OLDEST))
            raise MachineRefused("directory", f"git {needed} or newer is needed on this machine")
        place.git.run("var", "GIT_COMMITTER_IDENT")
    except GitFailed:
        hint = "`git config --global user.name NAME` and `git config --global user.email ADDRESS` set them"
        raise MachineRefused("identity", "git has no name and e-mail address to commit with", hint) from None


def _refuse_untrusted(app: App, request: MachineRequest) -> None:
    """What comes with the repository runs here only if it was agreed to here."""
    root = app.paths.root
    hint = f"on this machine, `samuel -C {shell_word(root)} trust` shows it and asks"
    own_checks = task_checks(app.methodology, request.task_checks)
    if own_checks:
        remember_requested(app.user.state, app.trust_key, app.methodology, request.task_checks)
    kinds = ("checks:{}", "checks:{}:tasks", "canary:{}")
    agents = (request.agent, app.workplace.settings.review.agent)
    names = (*(kind.format(app.methodology) for kind in kinds), *(f"agent:{name}" for name in agents), "lanes")
    for name, digest, _ in (*texts(app.config), *([own_checks] if own_checks else [])):
        if name in names and app.permit.text(name, digest):
            raise MachineRefused("trust", f"`{name}` of `{root}` is not trusted on this machine", hint)
    for chain in app.chains.values():
        for step in chain.steps:
            handler = step.handler
            try:
                why = app.permit(handler)
            except SamuelError as error:
                why = error.message
            if why:
                raise MachineRefused(
                    "trust", f"the hook `{handler.name}` is not trusted on this machine: {why}", hint
                )
