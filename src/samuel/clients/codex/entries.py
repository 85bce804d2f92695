"""The hooks of Codex are in a file of their own. It runs those that its user reviewed.

Codex trusts a hook by a digest of its definition. Asking its app server is safer than computing that digest a
second time.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from samuel.clients.entries.bridge_plan import BridgePlan, BridgeRequest
from samuel.clients.entries.hook_command import TIMEOUT
from samuel.clients.entries.hook_trust import Ask, TrustFacts, TrustQuestion
from samuel.clients.entries.json_hooks import JsonHooks, grouped_entry
from samuel.clients.entries.layout import ClientLayout, CommandFacts, EntryFile, home_directory
from samuel.clients.entries.settings_file import table_in
from samuel.clients.entries.toml_hooks import toml_string
from samuel.files.regular import read_regular
from samuel.files.toml.lines import toml_values

HOOKS = JsonHooks("codex", grouped_entry)
SKIPS = "codex skips hooks that were not reviewed, and says nothing"
_ATTEMPTS = 5  # codex may send other messages before it answers


def is_trusted(question: TrustQuestion) -> bool:
    prefixes = {f"{entry.file}:{_snake(event)}:" for entry in question.entries for event in entry.events}
    states = _states(question) if prefixes else None
    if states is not None:
        reviewed = [key for key, state in states.items() if state in ("trusted", "managed")]
    else:
        settings = _settings(question.home / "config.toml")
        if not _knows_folder(question, settings):
            return False
        table = table_in(table_in(settings, "hooks"), "state")
        reviewed = [key for key, state in table.items() if isinstance(state, dict) and state.get("trusted_hash")]
    return bool(prefixes) and all(any(key.startswith(prefix) for key in reviewed) for prefix in prefixes)


def _states(question: TrustQuestion) -> dict[str, str] | None:
    program = shutil.which("codex", path=question.environment.get("PATH"))
    if not program:
        return None
    with question.converse((program, "app-server"), ("CODEX_HOME",)) as ask:
        return hook_states(ask, question.root)


def _knows_folder(question: TrustQuestion, settings: Mapping[str, Any]) -> bool:
    """Whether codex reads the files of this project at all."""
    if not any(entry.level == "project" for entry in question.entries):
        return True
    projects = table_in(settings, "projects")
    return any(table_in(projects, str(directory)).get("trust_level") == "trusted" for directory in question.above)


def _settings(file: Path) -> Mapping[str, Any]:
    try:
        return toml_values(read_regular(file).decode("utf-8-sig"))
    except (OSError, ValueError):  # what cannot be read says nothing about trust
        return {}


def _snake(event: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()


def hook_states(ask: Ask, directory: Path) -> dict[str, str] | None:
    """The state of each hook by its key, `FILE:EVENT:GROUP:INDEX`: `trusted`, `untrusted` or `modified`.

    None if codex does not answer: it is not installed, or too old for the question.
    """
    greeting = {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "samuel", "version": "1"}}}
    reply = ask(_line(greeting))
    question = _line({"method": "initialized"})
    for number in range(1, _ATTEMPTS + 1):
        if reply is None:
            return None
        question += _line({"id": number, "method": "hooks/list", "params": {"cwds": [str(directory)]}})
        reply = ask(question)
        for message in _messages(reply or b""):
            if isinstance(result := message.get("result"), dict) and isinstance(result.get("data"), list):
                return dict(_pairs(result["data"]))
            if "error" in message:
                return None
        question = b""
    return None


def _pairs(folders: list[Any]) -> Iterator[tuple[str, str]]:
    for folder in folders:
        hooks = folder.get("hooks") if isinstance(folder, dict) else None
        for hook in hooks if isinstance(hooks, list) else ():
            if isinstance(hook, dict):
                trusted = str(hook.get("trustStatus")) if hook.get("enabled", True) else "disabled"
                yield str(hook.get("key")), trusted


def _messages(lines: bytes) -> Iterator[dict[str, Any]]:
    for line in lines.splitlines():
        try:
            message = json.loads(line)
        except ValueError:  # a line of its log
            continue
        if isinstance(message, dict):
            yield message


def _line(message: Mapping[str, object]) -> bytes:
    return json.dumps(message).encode() + b"\n"


LAYOUT = ClientLayout(
    program="codex",
    project=(EntryFile(".codex/hooks.json", HOOKS),),
    user=(EntryFile("hooks.json", HOOKS),),
    home=home_directory(".codex", "CODEX_HOME"),
    command=CommandFacts(session_directory="*/codex-arg0*", exit_code_denies=True),
    trust=TrustFacts(
        {
            "project": "start `codex` in this directory, trust the directory, then review the hooks with "
            f"`/hooks`; {SKIPS}",
            "user": f"start `codex` and review the hooks with `/hooks`; {SKIPS}",
        },
        is_trusted,
    ),
)


def bridge(request: BridgeRequest) -> BridgePlan:
    """Hooks as settings on the command line. Without its own trust or this flag, no hook runs."""
    words = ["--dangerously-bypass-hook-trust", "-c", "features.hooks=true"]
    for event in request.events:
        hook = f'{{type="command",command={toml_string(request.line(event))},timeout={TIMEOUT}}}'
        words += ("-c", f'hooks.{event}=[{{matcher="*",hooks=[{hook}]}}]')
    return BridgePlan(tuple(words))
