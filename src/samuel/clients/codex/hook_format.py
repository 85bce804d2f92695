"""Hooks that were written for Codex: in the format of Claude Code.

Codex reports every call that ended as PostToolUse, and has no event for a failure.
"""

from __future__ import annotations

from samuel.clients.claude import hook_format as claude
from samuel.clients.claude.hook_format import read_entries
from samuel.clients.codex.dialect import CLIENT

__all__ = ["FORMAT", "read_entries"]

FORMAT = claude.FORMAT._replace(
    client="codex",
    events=CLIENT.events,
    project_files=(".codex/hooks.json",),
    user_file=".codex/hooks.json",
)
