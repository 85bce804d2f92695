"""Samuel itself: its rules, its trust, its state, and the settings of the agents that call it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from samuel.base import paths
from samuel.clients.table import LAYOUTS
from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import FileUse, GuardedCommand
from samuel.shipped.shell_guard.places import real_path

PROGRAMS = frozenset({"samuel", "samuel-emit"})
_PROJECT = (paths.CONFIG, paths.LOCK, paths.HOME, paths.SYSTEM, ".kodelet/hooks", ".kodelet/plugins")
_SETTINGS = re.compile(r"(?:settings|config|hooks|opencode|managed)[\w.-]*|\.claude\.json|trustedFolders\.json")
_DIRECTORIES = frozenset({"hooks", "plugins", "plugin"})
_VARIABLE = re.compile(
    r"(?:SAMUEL_\w+|XDG_STATE_HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|COPILOT_HOME|QWEN_HOME|OPENCODE_CONFIG\w*)$"
)
_HOME_VARIABLE = frozenset({"HOME"})
_UNINSTALLERS = ("pip", "pip3", "uv", "pipx", "conda", "mamba", "python", "python3", "poetry", "npm")
_PACKAGE = re.compile(r"samuel(?:[-_][\w-]+)?(?:[=<>~!].*)?")
_NAMED = re.compile(r"(?<![\w./-])samuel(?:-emit)?(?![\w-])")
_SHADOWED = frozenset({"samuel", "samuel-emit"})


@lru_cache(maxsize=8)
def _protected(root: str, home: str, environment: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    """The files and directories that must stay as they are, by their real paths."""
    variables = dict(environment)
    state = variables.get("XDG_STATE_HOME") or os.path.join(home, ".local", "state")
    names = [
        *(os.path.join(root, name) for name in _PROJECT),
        os.path.join(home, paths.HOME),
        os.path.join(state, "samuel"),
        *_agent_files(root, variables),
    ]
    return tuple(dict.fromkeys(os.path.realpath(name) for name in names))


def _agent_files(root: str, variables: Mapping[str, str]) -> Iterator[str]:
    for layout in LAYOUTS.values():
        yield from (os.path.join(root, file.path) for file in layout.project)
        yield from (os.path.join(layout.home_of(variables), file.path) for file in layout.user)


def _is_own(path: str, call: GuardedShellCall) -> bool:
    variables = call.environment
    relevant = tuple(
        sorted((name, value) for name, value in variables.items() if name == "HOME" or _VARIABLE.match(name))
    )
    protected = _protected(call.places.root, call.places.home, relevant)
    real = real_path(path, follow=True)
    for own in protected:
        if real == own or real.startswith(f"{own}/"):
            return True
        directory = os.path.dirname(own)
        if os.path.basename(directory).startswith(".") and real.startswith(f"{directory}/"):
            first = real[len(directory) + 1 :].partition("/")[0]
            if _SETTINGS.fullmatch(first) or first in _DIRECTORIES:
                return True
    return False


def _changes_own_files(use: FileUse, call: GuardedShellCall) -> bool:
    """Reading is free. A program that is not known may write."""
    if not use.changes or use.program in PROGRAMS:
        return False
    if _is_own(use.file.path, call):
        return True
    if use.mode == "delete" and use.file.where.is_project and not use.file.pattern:
        inner = f"{use.file.path}/"
        return any(os.path.join(call.places.root, name).startswith(inner) for name in _PROJECT)
    return False


def _switches_off(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Commands of Samuel that change what it runs or trusts."""
    words = [word for word in command.operands if word]
    match words[:2]:
        case ["hooks", "disable" | "enable" | "new" | "import"]:
            return True
        case ["hooks", "rules"]:
            return command.has("--off", "--on")
        case ["bridge", "remove" | "add"] | ["plugin", "add" | "remove" | "update" | "link"]:
            return True
        case ["trust" | "init", *_]:
            return not command.has("--list", "--help", "--dry-run")
    return False


def _uninstalls(command: GuardedCommand, call: GuardedShellCall) -> bool:
    words = command.operands
    return bool({"uninstall", "remove", "un", "rm"} & set(words)) and any(
        _PACKAGE.fullmatch(word) for word in words
    )


def _sets_own_variables(call: GuardedShellCall) -> str:
    """Variables that tell Samuel, or the agent, where its files are or what it trusts."""
    for assignment in call.assignments:
        if _VARIABLE.match(assignment.partition("=")[0].rstrip("+")):
            return assignment
    for command in call.commands:
        words = command.command.words
        if command.program in ("unset", "export", "declare", "env", "typeset", "setenv"):
            for word in words[1:]:
                if _VARIABLE.match(word.lstrip("-u").partition("=")[0]) and not (
                    command.program == "export" and "=" not in word
                ):
                    return command.text
        if command.program == "env" and command.has("-i", "--ignore-environment") and PROGRAMS & set(words):
            return command.text
    return ""


def _shadows(call: GuardedShellCall) -> str:
    """Another program, alias or function of Samuel's name."""
    for use in call.file_uses:
        if (
            use.mode in ("write", "delete")
            and os.path.basename(use.file.path) in _SHADOWED
            and use.program != "git"
        ):
            return use.text
    for command in call.commands:
        if command.program in ("alias", "hash") and any(
            _NAMED.search(word.partition("=")[0]) for word in command.arguments
        ):
            return command.text
    return next((line for line in call.lines if re.search(r"\b(?:samuel(?:-emit)?)\s*\(\)", line)), "")


def _ends_samuel(command: GuardedCommand, call: GuardedShellCall) -> bool:
    return any(_NAMED.search(word) for word in command.arguments)


RULES = GuardArea(
    "samuel",
    (
        GuardRule(
            "own-files",
            "deny",
            "rm -rf .samuel",
            "It changes the rules, the trust or the state of Samuel, or the settings of an agent that call it",
            about_file=_changes_own_files,
        ),
        GuardRule(
            "own-commands",
            "deny",
            "samuel hooks disable shell_guard",
            "It changes which hooks run and what is trusted; a person does that",
            about_command=_switches_off,
            programs=("samuel",),
        ),
        GuardRule(
            "own-package",
            "deny",
            "pip uninstall samuel",
            "It removes Samuel",
            about_command=_uninstalls,
            programs=_UNINSTALLERS,
        ),
        GuardRule(
            "own-variables",
            "deny",
            "export SAMUEL_TRUST=all",
            "It changes variables by which Samuel and the agent find their files and what is trusted",
            about_call=_sets_own_variables,
        ),
        GuardRule(
            "own-name",
            "deny",
            "alias samuel=true",
            "It puts another program in the place of Samuel",
            about_call=_shadows,
        ),
        GuardRule(
            "own-process",
            "deny",
            "pkill -f samuel",
            "It ends processes of Samuel",
            about_command=_ends_samuel,
            programs=("pkill", "killall", "pgrep", "kill", "skill"),
        ),
    ),
)
