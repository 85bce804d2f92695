"""Samuel itself: its rules, its trust, its state, and the settings of the agents that call it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import pairwise

from samuel.base import paths
from samuel.clients.table import LAYOUTS
from samuel.shipped.shell_guard.file_uses import LONGEST_WORD, NAMING, READERS
from samuel.shipped.shell_guard.guard_rule import GuardArea, GuardRule
from samuel.shipped.shell_guard.guarded_call import GuardedShellCall
from samuel.shipped.shell_guard.guarded_command import FileUse, GuardedCommand
from samuel.shipped.shell_guard.places import Where, real_path
from samuel.shipped.shell_guard.unread_code import quoted_texts, writes_files

PROGRAMS = frozenset({"samuel", "samuel-emit"})
_PROJECT = (paths.CONFIG, paths.LOCK, paths.HOME, paths.SYSTEM, ".kodelet/hooks", ".kodelet/plugins")
_SETTINGS = re.compile(r"(?:settings|config|hooks|opencode|managed)[\w.-]*|\.claude\.json|trustedFolders\.json")
_DIRECTORIES = frozenset({"hooks", "plugins", "plugin"})
_VARIABLE = re.compile(
    r"(?:SAMUEL_\w+|XDG_STATE_HOME|CLAUDE_CONFIG_DIR|CODEX_HOME|COPILOT_HOME|QWEN_HOME|OPENCODE_CONFIG\w*)$"
)
_UNINSTALLERS = ("pip", "pip3", "uv", "pipx", "conda", "mamba", "python", "python3", "poetry", "npm")
_PACKAGE = re.compile(r"samuel(?:[-_][\w-]+)?(?:[=<>~!].*)?")
_NAMED = re.compile(r"(?<![\w./-])samuel(?:-emit)?(?![\w-])")
_STATE = re.compile(r"\.samuel/|/samuel/.*\.pid")
_EDITING = frozenset({"sed", "awk", "gawk", "cp", "vim", "tar", "zip", "gzip", "rsync"})
_CHANGING_RIGHTS = frozenset({"chmod", "chown", "chgrp", "chattr", "setfacl"})
_HOMES = re.compile(r"(?:HOME|XDG_CONFIG_HOME|XDG_DATA_HOME|USERPROFILE)=")
_AGENTS = frozenset(
    (
        "claude",
        "codex",
        "gemini",
        "cursor-agent",
        "copilot",
        "opencode",
        "qwen",
        "grok",
        "kiro-cli",
        "amp",
        "aider",
        "goose",
    )
)
_SHADOWED = frozenset({"samuel", "samuel-emit"})


_PATCHED = re.compile(r"^(?:---|\+\+\+|rename to|copy to) (?:[a-z]/)?([^\t\n]+)", re.MULTILINE)
LARGEST_PATCH = 1_000_000


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


def _own_paths(call: GuardedShellCall) -> tuple[str, ...]:
    names = ("HOME", "XDG_STATE_HOME")
    relevant = tuple(
        sorted((name, value) for name, value in call.environment.items() if name in names or _VARIABLE.match(name))
    )
    return _protected(call.places.root, call.places.home, relevant)


def _is_own(path: str, call: GuardedShellCall) -> bool:
    real = real_path(path, follow=True)
    for own in _own_paths(call):
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
    is_tree = use.mode == "delete" and (use.file.where.is_project or use.file.where is Where.OUTSIDE)
    is_tree = is_tree or (use.program in _CHANGING_RIGHTS and use.file.where not in (Where.PROJECT, Where.ABOVE))
    return is_tree and any(own.startswith(f"{use.file.path}/") for own in _own_paths(call))


def _finds_own_files(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`find .system -exec sed -i ...`: what find hands to another program is not in the text."""
    words = command.arguments
    runs = [words[at + 1] for at, word in enumerate(words[:-1]) if word in ("-exec", "-execdir", "-ok", "-okdir")]
    changes = "-delete" in words or any(program not in READERS | NAMING or program in _EDITING for program in runs)
    first_option = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    roots = (path for word in words[:first_option] for path in call.resolved(word, command.directories))
    return changes and any(root is not None and _is_own(root.path, call) for root in roots)


def _switches_off(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """Commands of Samuel that change what it runs or trusts."""
    words = list(command.operands)
    if command.program != "samuel":  # `python -m samuel`
        words = words[words.index("samuel") + 1 :] if "samuel" in words else []
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
        if _HOMES.match(assignment) and (PROGRAMS | _AGENTS) & call.programs:
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


def _code_changes_own_files(call: GuardedShellCall) -> str:
    """Code of another language that names such a file and writes to files."""
    for part in call.opaque:
        if not part.code or not writes_files(part.code):
            continue
        for text in quoted_texts(part.code):
            paths = (
                call.resolved(text, [call.places.root]) if "\n" not in text and len(text) < LONGEST_WORD else ()
            )
            if any(path is not None and not path.pattern and _is_own(path.path, call) for path in paths):
                return part.text
    return ""


def _patches_own_files(command: GuardedCommand, call: GuardedShellCall) -> bool:
    """`git apply x.patch`, `patch < x.patch`: the files that are named in the patch."""
    words = [redirect.target for redirect in command.command.redirects if not redirect.writes]
    if command.program == "git":
        if command.operands[:1] not in (("apply",), ("am",)):
            return False
        words += command.operands[1:]
    else:
        words += (word for before, word in pairwise(command.arguments) if before in ("-i", "--input"))
        words += command.operands[1:]
    files = (path.path for word in words for path in call.resolved(word, command.directories) if path is not None)
    return any(_is_own(os.path.join(call.places.root, name), call) for file in files for name in _patched(file))


def _patched(file: str) -> list[str]:
    try:
        with open(file, "rb") as opened:
            text = opened.read(LARGEST_PATCH).decode("utf-8", "replace")
    except (OSError, ValueError):
        return []
    return [match[1] for match in _PATCHED.finditer(text)]


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
    return any(_NAMED.search(word) or _STATE.search(word) for word in command.arguments)


RULES = GuardArea(
    "samuel",
    (
        GuardRule(
            "own-files",
            "deny",
            "rm -rf .samuel",
            "It changes the rules, the trust or the state of Samuel, or the settings of an agent that call it",
            about_file=_changes_own_files,
            about_call=_code_changes_own_files,
            about_command=_patches_own_files,
            programs=("git", "patch"),
        ),
        GuardRule(
            "own-files-by-find",
            "deny",
            "find .system -name '*.yaml' -delete",
            "It changes or deletes files of Samuel that it finds",
            about_command=_finds_own_files,
            programs=("find",),
        ),
        GuardRule(
            "unguarded-agent",
            "ask",
            "claude --dangerously-skip-permissions -p hello",
            "It starts an agent that asks about nothing, or changes the settings of one",
            patterns=(
                "claude --dangerously-skip-permissions|--allow-dangerously-skip-permissions|--settings|--setting-sources",
                "claude --permission-mode=bypassPermissions",
                "claude config|mcp|plugin set|add|remove|install|uninstall|enable|disable|add-json|import",
                "codex --dangerously-bypass-approvals-and-sandbox|--yolo|--full-auto|--dangerously-bypass-hook-trust",
                "codex --sandbox=danger-full-access|-s=danger-full-access|--ask-for-approval=never|-a=never",
                "codex mcp add|remove",
                "gemini|qwen -y|--yolo|--approval-mode=yolo",
                "gemini|qwen extensions|mcp|hooks install|add|remove|disable|enable|uninstall",
                "cursor-agent -f|--force|--yolo",
                "copilot --allow-all-tools|--allow-all|--yolo",
                "opencode|amp|kiro-cli --dangerously-allow-all|--trust-all-tools|--auto",
                "aider --yes-always",
            ),
        ),
        GuardRule(
            "own-commands",
            "deny",
            "samuel hooks disable shell_guard",
            "It changes which hooks run and what is trusted; a person does that",
            about_command=_switches_off,
            programs=("samuel", "python", "python3", "uvx"),
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
