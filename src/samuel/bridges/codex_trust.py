"""Which hooks Codex trusts, as its app server lists them.

Codex trusts a hook by a digest of its definition. Asking is safer than computing that digest a second time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from samuel.process import environment
from samuel.process.conversation import Conversation
from samuel.process.reason import NotRunnable

TIMEOUT = 20.0
LIMIT = 4 * 1024 * 1024
_ATTEMPTS = 5  # codex may send other messages before it answers


def hook_states(program: str, directory: Path, variables: Mapping[str, str]) -> dict[str, str] | None:
    """The state of each hook by its key, `FILE:EVENT:GROUP:INDEX`: `trusted`, `untrusted` or `modified`.

    None if codex does not answer: it is not installed, or too old for the question.
    """
    env = environment.clean(pass_names=("CODEX_HOME",), base=variables)
    try:
        conversation = Conversation([program, "app-server"], cwd=str(directory), env=env, over_stdio=True)
    except NotRunnable:
        return None
    try:
        return _states(conversation, directory)
    finally:
        conversation.close()


def _states(conversation: Conversation, directory: Path) -> dict[str, str] | None:
    greeting = {"id": 0, "method": "initialize", "params": {"clientInfo": {"name": "samuel", "version": "1"}}}
    reply = conversation.ask(_line(greeting), timeout=TIMEOUT, limit=LIMIT)
    question = _line({"method": "initialized"})
    for number in range(1, _ATTEMPTS + 1):
        if reply.ended != "answered":
            return None
        question += _line({"id": number, "method": "hooks/list", "params": {"cwds": [str(directory)]}})
        reply = conversation.ask(question, timeout=TIMEOUT, limit=LIMIT)
        for message in _messages(reply.answer):
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
